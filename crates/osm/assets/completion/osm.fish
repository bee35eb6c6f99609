# Completion of osm for fish. osm itself says what can stand at the cursor.

function __osm_complete
    set -l before (commandline -opc)
    set -l token (commandline -ct)
    # Without the quotes around it; a quote that is still open stays.
    set -l current (string unescape -- "$token" 2>/dev/null)
    or set current (string trim --left --chars='"\'' -- "$token")
    set -l answer (command osm complete -- $before[2..] "$current" 2>/dev/null)
    string join \n -- $answer[2..]
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case programs
            complete -C "$current"
    end
end

complete -c osm -f -a '(__osm_complete)'
