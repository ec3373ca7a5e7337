import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

/** What can follow the words of a command line, such as `svc token`. */
interface Place {
  readonly words: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** All places of the command line of a program. */
export function placesOf(command: Command, before = '', inherited: readonly string[] = []): Place[] {
  const words = before === '' ? command.name() : `${before} ${command.name()}`;
  const own = command.options.flatMap(({ long }) => (long ? [long] : []));
  const options = [...inherited, ...own];
  const commands = command.commands.map((each) => each.name());
  const nested = command.commands.flatMap((each) => placesOf(each, words, options));
  return [{ words, commands, options: [...options, '--help'] }, ...nested];
}

/** The script that completes the commands and options of svc in a shell. @throws UsageError for another shell */
export function completionScript(shell: string, program: Command): string {
  const places = placesOf(program);
  switch (shell) {
    case 'bash':
      return bash(places);
    case 'zsh':
      return zsh(places);
    case 'fish':
      return fish(places);
    default:
      throw new UsageError('There is completion for bash, zsh and fish.');
  }
}

/** The branches of a `case` of a POSIX shell that determine the place: each word that is a command extends it. */
const pathCases = (places: readonly Place[], indent: string) =>
  places
    .slice(1)
    .map(({ words }) => `${indent}'${words}') path='${words}' ;;`)
    .join('\n');

const wordCases = (places: readonly Place[], indent: string) =>
  places
    .map(({ words, commands, options }) => `${indent}'${words}') words='${[...commands, ...options].join(' ')}' ;;`)
    .join('\n');

const bash = (places: readonly Place[]) => `# source <(svc completion bash)
_svc() {
  local path=svc words= word current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${pathCases(places, '      ')}
    esac
  done
  case "$path" in
${wordCases(places, '    ')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc`;

const zsh = (places: readonly Place[]) => `#compdef svc
# source <(svc completion zsh)
_svc() {
  local path_=svc words_= word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path_ $word" in
${pathCases(places, '      ').replaceAll('path=', 'path_=')}
    esac
  done
  case "$path_" in
${wordCases(places, '    ').replaceAll('words=', 'words_=')}
  esac
  compadd -- \${=words_}
  _files
}
# In a folder of fpath, this file is the function; with source, it defines the function.
if [[ \${funcstack[1]} == _svc ]]; then _svc; else compdef _svc svc; fi`;

const fish = (places: readonly Place[]) => `# svc completion fish | source
function __svc_words
  set -l path svc
  for word in (commandline -opc)[2..]
    switch "$path $word"
${places
  .slice(1)
  .map(({ words }) => `      case '${words}'\n        set path '${words}'`)
  .join('\n')}
    end
  end
  switch "$path"
${places
  .map(
    ({ words, commands, options }) =>
      `    case '${words}'\n      printf '%s\\n' ${[...commands, ...options].join(' ')}`,
  )
  .join('\n')}
  end
end
complete -c svc -a '(__svc_words)'`;
