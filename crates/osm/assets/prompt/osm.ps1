# This session in the prompt of PowerShell: [swift-otter: 2 held].

# Once, also if this is read again.
if (-not (Test-Path Function:\__osm_prompt_before)) {
    Copy-Item Function:\prompt Function:\__osm_prompt_before
    function global:prompt {
        $line = (& osm --short 2>$null)
        $rest = __osm_prompt_before
        if ($line) { "[$line] $rest" } else { $rest }
    }
}
