const bash = `# bash completion for kapis; in ~/.bashrc: source <(kapis completion bash)
_kapis() {
  local cur=\${COMP_WORDS[COMP_CWORD]} line prefix
  COMPREPLY=()
  # Words with a colon are several words to bash.
  local before=\${COMP_LINE:0:COMP_POINT} words=()
  read -ra words <<<"$before"
  [[ $before == *[[:space:]] ]] && words+=('')
  cur=\${words[\${#words[@]}-1]}
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
    elif [[ -n $line ]]; then
      line=\${line%%$'\\t'*}
      COMPREPLY+=("$(printf '%q' "$line")")
    fi
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    prefix=\${cur%"\${cur##*:}"}
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _kapis kapis
`

const zsh = `#compdef kapis
# zsh completion for kapis; in ~/.zshrc after compinit: source <(kapis completion zsh)
_kapis() {
  local line
  local -a described
  local -i isFiles=0
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      isFiles=1
    elif [[ $line == *$'\\t'* ]]; then
      described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    elif [[ -n $line ]]; then
      described+=("\${line//:/\\\\:}")
    fi
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( isFiles )); then _files; else _describe kapis described; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _kapis "$@"; else compdef _kapis kapis; fi
`

const fish = `# fish completion for kapis; in ~/.config/fish/completions/kapis.fish
function __kapis_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c kapis -f -a '(__kapis_complete)'
`

/** The completion script of each shell. */
export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }
