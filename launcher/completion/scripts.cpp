#include "completion/scripts.hpp"

#include <muster/error.hpp>

#include "screen/printable.hpp"

#include <string>

namespace muster::launcher {
namespace {

// bash breaks words at "=" and ":", which are parts of ours.
constexpr std::string_view bash =
    R"bash(# bash completion for muster:  source <(muster completion bash)
_muster() {
  local word words=() joined='' i line
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:] || $joined ]] && ((${#words[@]})); then
      words[-1]+=$word
      [[ $word == [=:] ]] && joined=1 || joined=''
    else
      words+=("$word")
    fi
  done
  local typed=${words[-1]} files='' folders='' programs=''
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) files=1 ;;
      :folders) folders=1 ;;
      :programs) programs=1 ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" completion --words -- "${words[@]}" 2>/dev/null)
  # Only what stands behind the last break is replaced.
  local last=${COMP_WORDS[COMP_CWORD]} before=''
  [[ $last == [=:] ]] && last=''
  before=${typed%"$last"}
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  [[ $folders ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$last")
  [[ $programs ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$last")
  [[ $files ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$last")
  [[ $files$folders ]] && compopt -o filenames 2>/dev/null
  return 0
}
complete -F _muster muster
)bash";

constexpr std::string_view zsh = R"zsh(#compdef muster
# zsh completion for muster, as _muster in a folder of $fpath, or:  source <(muster completion zsh)
_muster() {
  local line files folders programs
  local -a found
  while IFS= read -r line; do
    case $line in
      :files) files=1 ;;
      :folders) folders=1 ;;
      :programs) programs=1 ;;
      *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done < <("${words[1]}" completion --words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  ((${#found})) && _describe -V 'muster' found
  [[ -n $programs ]] && _command_names -e
  [[ -n $files ]] && _files
  [[ -n $folders ]] && _files -/
  return 0
}
if [[ $funcstack[1] == _muster ]]; then
  _muster "$@"
else
  compdef _muster muster
fi
)zsh";

constexpr std::string_view fish =
    R"fish(# fish completion for muster:  muster completion fish | source
function __muster_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l token (commandline -ct)
    for line in ($words[1] completion --words -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $token
            case :folders
                __fish_complete_directories $token
            case :programs
                complete -C "$token" | string match -rv '^-'
            case '*'
                echo $line
        end
    end
end
complete -c muster -f -a '(__muster_complete)'
)fish";

}  // namespace

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return bash;
  if (shell == "zsh") return zsh;
  if (shell == "fish") return fish;
  throw ConfigError("no completion for '" + printable(shell) +
                    "'; there is one for bash, zsh and fish");
}

}  // namespace muster::launcher
