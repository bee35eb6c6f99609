# This session in the prompt of nushell: [swift-otter: 2 held].

$env.PROMPT_COMMAND = (do {
  let before = ($env.PROMPT_COMMAND? | default '')
  let is_closure = ($before | describe) == 'closure'
  # Once, also if this is read again.
  if $is_closure and (view source $before | str contains 'osm --short') { $before } else {
    {||
      let line = (^osm --short | complete | get stdout | str trim)
      let rest = (if $is_closure { do $before } else { $before })
      if ($line | is-empty) { $rest } else { $"[($line)] ($rest)" }
    }
  }
})
