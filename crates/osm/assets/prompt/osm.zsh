# This session in the prompt of zsh: [swift-otter: 2 held].

# A variable of the prompt needs no option of the shell, and is shown as it is.
__osm_precmd() {
    psvar[9]="$(command osm --short 2>/dev/null)"
}

typeset -ga precmd_functions
# Once, also if this is read again.
if (( ! ${precmd_functions[(I)__osm_precmd]} )); then
    precmd_functions+=(__osm_precmd)
    PROMPT='%(9V.[%9v] .)'"$PROMPT"
fi
