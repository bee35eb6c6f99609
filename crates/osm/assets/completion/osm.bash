# Completion of osm for bash. osm itself says what can stand at the cursor.

_osm() {
    local rest="${COMP_LINE:0:COMP_POINT}" trimmed word i
    local -a words=()
    # Bash splits words at = and : too. Those parts follow each other without a space.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        trimmed="${rest#"${rest%%[![:space:]]*}"}"
        word="${COMP_WORDS[i]}"
        ((i == COMP_CWORD)) && word="$trimmed"
        if ((i > 0)) && [[ "$trimmed" == "$rest" ]]; then
            words[${#words[@]} - 1]+="$word"
        else
            words+=("$word")
        fi
        rest="${trimmed#"$word"}"
    done

    local current="${words[${#words[@]} - 1]}" quote=
    if [[ "$current" == [\"\']* ]]; then
        quote="${current:0:1}"
        current="${current:1}"
    else
        current="${current//\\/}"
    fi
    words[${#words[@]} - 1]="$current"

    # What stands before the last = or : is no part of the word that bash replaces.
    local ahead=
    if [[ -z "$quote" && "$COMP_WORDBREAKS" == *[:=]* ]]; then
        ahead="${current%"${current##*[:=]}"}"
    fi

    local shell= value about
    COMPREPLY=()
    while IFS=$'\t' read -r value about; do
        if [[ -z "$shell" ]]; then
            shell="$value"
        elif [[ -n "$value" ]]; then
            value="${value#"$ahead"}"
            [[ -z "$quote" && "$shell" != files ]] && printf -v value %q "$value"
            COMPREPLY+=("$value")
        fi
    done < <(command osm complete -- "${words[@]:1}" 2>/dev/null)

    case "$shell" in
        files)
            if ((${#COMPREPLY[@]} == 0)); then
                compopt -o default 2>/dev/null
            else
                compopt -o filenames 2>/dev/null
                while IFS= read -r value; do
                    COMPREPLY+=("$value")
                done < <(compgen -f -- "$current")
            fi
            ;;
        programs)
            while IFS= read -r value; do
                COMPREPLY+=("$value")
            done < <(compgen -c -- "$current")
            ;;
    esac
}

complete -F _osm osm
