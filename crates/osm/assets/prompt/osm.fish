# This session in the prompt of fish: [swift-otter: 2 held].

# Once, also if this is read again.
if not functions -q __osm_prompt_before
    # The prompt is loaded when it is first shown.
    functions -q fish_prompt
    and functions -c fish_prompt __osm_prompt_before
    or function __osm_prompt_before; printf '%s> ' (prompt_pwd); end

    function __osm_status
        return $argv[1]
    end

    function fish_prompt
        set -l last $status
        set -l line (command osm --short 2>/dev/null)
        test -n "$line"; and printf '[%s] ' "$line"
        __osm_status $last
        __osm_prompt_before
    end
end
