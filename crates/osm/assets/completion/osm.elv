# Completion of osm for elvish. osm itself says what can stand at the cursor.

use str

set edit:completion:arg-completer[osm] = {|@words|
  var answer = [(e:osm complete -- (all $words[1..]) 2>/dev/null | from-lines)]
  for line $answer[1..] {
    var value about = (str:split &max=2 "\t" $line)
    if (eq $about '') {
      edit:complex-candidate $value
    } else {
      edit:complex-candidate $value &display=$value' ('$about')'
    }
  }
  if (eq $answer[0] files) {
    edit:complete-filename $@words
  } elif (eq $answer[0] programs) {
    edit:complete-sudo sudo $words[-1]
  }
}
