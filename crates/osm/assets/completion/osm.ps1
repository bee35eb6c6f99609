# Completion of osm for PowerShell. osm itself says what can stand at the cursor.

Register-ArgumentCompleter -Native -CommandName osm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $start = $cursorPosition - $wordToComplete.Length
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $start } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    # Older versions drop empty arguments of programs, unless they are quoted.
    $current = $wordToComplete.Trim("'", '"')
    if ($current -eq '' -and $PSVersionTable.PSVersion -lt [version]'7.3') { $current = '""' }
    $program = (Get-Command -Name osm -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1)
    if (-not $program) { return }
    & $program complete -- @words $current 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $value, $about = $_ -split "`t", 2
        if (-not $about) { $about = $value }
        $text = $value
        if ($value -notmatch '^[\w./:%+=-]+$') { $text = "'" + $value.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
