# This session in the prompt of bash: [swift-otter: 2 held].

__osm_prompt() {
    local status=$? line
    line="$(command osm --short 2>/dev/null)"
    [[ -n "$line" ]] && printf '[%s] ' "$line"
    return "$status"
}

# Once, also if this is read again.
if [[ "$PS1" != *'$(__osm_prompt)'* ]]; then
    PS1='$(__osm_prompt)'"$PS1"
fi
