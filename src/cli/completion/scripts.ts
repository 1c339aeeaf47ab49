/** The shells that can be taught what may follow. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/*
 * Each script asks the program itself at every Tab, with `completion SHELL --candidates -- WORDS`, and so always has the
 * names of this installation. It calls the program as it was typed, so that it works for `bin/gateway` too. A line of
 * the answer is a word, a tab and what it means; no line means that file names may follow.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  // Words are split at = and : too, and only what follows the last of these is replaced.
  bash: `# bash completion for gateway
_gateway() {
  local words=() word glue="" current line value lines
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ -n $glue || $word == [:=] ]] && ((\${#words[@]})); then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word == [:=] ]]; then glue=1; else glue=""; fi
  done
  current="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    [[ $current == *[:=]* ]] && value="\${value#"\${current%"\${current##*[:=]}"}"}"
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" completion bash --candidates -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _gateway gateway modelgate
`,
  zsh: `#compdef gateway modelgate
_gateway() {
  local -a described
  local line
  for line in "\${(@f)$("\${words[1]/#\\~/$HOME}" completion zsh --candidates -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#described )); then _describe gateway described; else _files; fi
}
if [ "$funcstack[1]" = "_gateway" ]; then
  _gateway "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _gateway gateway modelgate
fi
`,
  fish: `# fish completion for gateway
function __gateway_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] completion fish --candidates -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\\n' $lines
    else
        __fish_complete_path "$current"
    end
end
complete -c gateway -f -a '(__gateway_candidates)'
complete -c modelgate -f -a '(__gateway_candidates)'
`,
  powershell: `# PowerShell completion for gateway
Register-ArgumentCompleter -Native -CommandName gateway, modelgate -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $words = @($before | Select-Object -Skip 1) + @("$wordToComplete")
    & $before[0] completion powershell --candidates '--' @words 2>$null | ForEach-Object {
        $value, $summary = $_ -split "\`t", 2
        if (-not $summary) { $summary = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $summary)
    }
}
`,
};
