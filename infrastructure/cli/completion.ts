// `completion`: a script for the shell that completes commands, options and the values that are one of a list. It is made of the commands
// themselves and holds all that it needs: nothing is started while somebody types.
import { fileURLToPath } from 'node:url';
import type { CliCommand, CommandWords, LocalCommand } from './command.ts';

type Pair = readonly [key: string, words: readonly string[]];

/** What can be typed, by what was typed before. */
interface Vocabulary {
  /** Every command and the beginning of one: `account`, `account create`. */
  readonly paths: readonly string[];
  /** Behind a path: the next words of commands. */
  readonly words: readonly Pair[];
  /** `path count`: values of the argument behind so many others. */
  readonly arguments: readonly Pair[];
  /** Behind a path: options. */
  readonly options: readonly Pair[];
  /** `path --option`: its values; none when any is taken. */
  readonly values: readonly Pair[];
}

const COMMON = ['--json', '--help', '--version'];

/** `med`, `med review` and `med review list` of the last. */
const pathsTo = (name: string): readonly string[] => {
  const words = name.split(' ');
  return words.map((_, i) => words.slice(0, i + 1).join(' '));
};

const vocabularyOf = (commands: readonly CommandWords[]): Vocabulary => {
  const names = commands.map(({ name }) => name);
  const paths = [...new Set(names.flatMap(pathsTo))];
  const groups = ['', ...paths.filter((path) => !names.includes(path))];
  const wordsBehind = (path: string): readonly string[] => {
    const start = path === '' ? '' : `${path} `;
    return paths
      .filter((one) => one.startsWith(start))
      .map((one) => one.slice(start.length))
      .filter((one) => !one.includes(' '));
  };
  return {
    paths,
    words: groups.map((path) => [path, [...wordsBehind(path), ...(path === '' ? ['help'] : [])]]),
    arguments: commands.flatMap(({ name, args }) =>
      args.flatMap(({ choice }, i): Pair[] => (choice === undefined ? [] : [[`${name} ${i}`, choice.names]])),
    ),
    options: [
      ...groups.map((path): Pair => [path, COMMON]),
      ...commands.map(
        ({ name, options }): Pair => [name, [...Object.keys(options).map((option) => `--${option}`), ...COMMON]],
      ),
    ],
    values: commands.flatMap(({ name, options }) =>
      Object.entries(options).flatMap(([option, { flag, choice }]): Pair[] =>
        flag ? [] : [[`${name} --${option}`, choice?.names ?? []]],
      ),
    ),
  };
};

const cases = (pairs: readonly Pair[], indent: string): string =>
  pairs.map(([key, words]) => `${indent}'${key}') list='${words.join(' ')}' ;;\n`).join('');
const patterns = (keys: readonly string[]): string => keys.map((key) => `'${key}'`).join(' | ');

/** `quita` is the short form that the script makes: the program is npm's script `cli`, wherever one stands. */
const shortForm = (root: string): string => `npm --prefix '${root}' run --silent cli --`;

const bash = (vocabulary: Vocabulary): string => `
# Completes the word at COMP_CWORD; $1: where the words begin that the command line of Quita reads.
_quita_words() {
  local i="$1" cur="\${COMP_WORDS[COMP_CWORD]}" word='' path='' next='' option='' count=0 list=''
  while [ "$i" -lt "$COMP_CWORD" ]; do
    word="\${COMP_WORDS[i]}"
    i=$((i + 1))
    case "$word" in
      = | help) continue ;;
      -*)
        case "$path $word" in
          ${patterns(vocabulary.values.map(([key]) => key))}) option="$word" ;;
          *) option='' ;;
        esac
        continue
        ;;
    esac
    if [ -n "$option" ]; then option=''; continue; fi
    next="\${path:+$path }$word"
    case "$next" in
      ${patterns(vocabulary.paths)}) path="$next" ;;
      *) count=$((count + 1)) ;;
    esac
  done
  if [ "$cur" = '=' ]; then cur=''; fi
  if [ -n "$option" ]; then
    case "$path $option" in
${cases(
  vocabulary.values.filter(([, words]) => words.length > 0),
  '      ',
)}    esac
  elif [ "\${cur#-}" != "$cur" ]; then
    case "$path" in
${cases(vocabulary.options, '      ')}    esac
  else
    case "$path $count" in
${cases([...vocabulary.words.map(([path, words]): Pair => [`${path} 0`, words]), ...vocabulary.arguments], '      ')}    esac
  fi
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
}
_quita() { _quita_words 1; }
complete -F _quita quita
`;

/** `npm run cli -- …`, too; whatever completes npm otherwise goes on doing so. */
const bashOfNpm = `
_quita_npm_other="$(complete -p npm 2>/dev/null | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')"
_quita_npm() {
  local i=2
  while [ "$i" -lt "$COMP_CWORD" ]; do
    if [ "\${COMP_WORDS[i - 1]} \${COMP_WORDS[i]}" = 'cli --' ]; then
      _quita_words $((i + 1))
      return
    fi
    i=$((i + 1))
  done
  if [ -n "$_quita_npm_other" ] && [ "$_quita_npm_other" != _quita_npm ]; then "$_quita_npm_other" "$@"; fi
}
complete -o bashdefault -o default -F _quita_npm npm
`;

const fish = (vocabulary: Vocabulary, commands: readonly CommandWords[]): string => {
  const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const summaryOf = (path: string) => commands.find(({ name }) => name === path)?.summary ?? '';
  const under = (path: string, rest: string) => `complete -c quita -n ${quoted(`__quita_at ${quoted(path)}`)} ${rest}`;
  return [
    '',
    'complete -c quita -f',
    '# Whether the words that are typed so far name this command.',
    'function __quita_at',
    "  set -l path ''",
    '  for word in (commandline -opc)[2..]',
    "    string match -q -- '-*' $word; and continue",
    '    set -l next (string trim -- "$path $word")',
    `    contains -- $next ${vocabulary.paths.map(quoted).join(' ')}; and set path $next`,
    '  end',
    '  test "$path" = "$argv[1]"',
    'end',
    ...vocabulary.words.flatMap(([path, words]) =>
      words.map((word) => under(path, `-a ${quoted(word)} -d ${quoted(summaryOf(`${path} ${word}`.trim()))}`)),
    ),
    ...vocabulary.arguments.map(([key, words]) => under(key.replace(/ \d+$/, ''), `-a ${quoted(words.join(' '))}`)),
    ...[['', ...vocabulary.paths]]
      .flat()
      .map((path) => under(path, COMMON.map((option) => `-l ${option.slice(2)}`).join(' '))),
    ...commands.flatMap(({ name, options }) =>
      Object.entries(options).map(([option, { description, flag, choice }]) => {
        const values = choice === undefined ? '' : ` -a ${quoted(choice.names.join(' '))}`;
        return under(name, `-l ${option} -d ${quoted(description)}${flag ? '' : ' -x'}${values}`);
      }),
    ),
    '',
  ].join('\n');
};

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
/** Where the shell reads it from. */
const SETUP: { readonly [S in Shell]: string } = {
  bash: 'eval "$(npm run -s cli -- completion bash)"   # in ~/.bashrc',
  zsh: 'eval "$(npm run -s cli -- completion zsh)"   # in ~/.zshrc, behind compinit',
  fish: 'npm run -s cli -- completion fish | source   # in ~/.config/fish/config.fish',
};

/** `root`: the project's folder. */
export const completionScript = (shell: Shell, commands: readonly CommandWords[], root: string): string => {
  const vocabulary = vocabularyOf(commands);
  const head = `# ${shell} completion of Quita's command line: ${SETUP[shell]}\n`;
  if (shell === 'fish')
    return `${head}type -q quita; or function quita; ${shortForm(root)} $argv; end\n${fish(vocabulary, commands)}`;
  const defined = `type quita >/dev/null 2>&1 || quita() { ${shortForm(root)} "$@"; }\n`;
  if (shell === 'zsh') return `${head}${defined}autoload -U +X bashcompinit && bashcompinit\n${bash(vocabulary)}`;
  return `${head}${defined}${bash(vocabulary)}${bashOfNpm}`;
};

/** `all`: the commands that are completed, this one among them. */
export const completionCommand = (all: () => readonly CliCommand[]): LocalCommand => ({
  name: 'completion',
  summary: 'Print a script with which the shell completes commands, options and their values, and the short form quita',
  args: [{ name: 'shell', choice: { what: 'shell', names: SHELLS } }],
  options: {},
  isLocal: true,
  run: async (_, { args: [shell] }) => {
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
    const script = completionScript(shell as Shell, all(), root);
    return { json: { shell, script }, text: script.trimEnd() };
  },
});
