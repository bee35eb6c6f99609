# Completion of osm for nushell. osm itself says what can stand at the cursor.

def "nu-complete osm" [context: string] {
  # The words as they were typed, without the quotes around them; a space at the end begins a new one.
  let typed = $context | parse --regex '(?<word>"[^"]*"?|''[^'']*''?|`[^`]*`?|[^\s]+)' | get word
  let typed = if ($context | str ends-with ' ') { $typed | append '' } else { $typed }
  let words = $typed | skip 1 | each {|it| $it | str trim --char '"' | str trim --char "'" | str trim --char '`' }
  let answer = (^osm complete -- ...$words | complete | get stdout | lines)
  let found = $answer | skip 1 | each {|line|
    let parts = $line | split row --number 2 "\t"
    let value = $parts | first
    # A word that the shell would split is quoted.
    let plain = $value =~ '^[\p{L}\p{N}_./@:%+=,-]+$'
    { value: (if $plain { $value } else { $value | to json --raw }), description: ($parts | last) }
  }
  # Null lets the shell offer files.
  if ($found | is-empty) and (($answer | first) == 'files') { null } else { $found }
}

export extern osm [...words: string@"nu-complete osm"]
