// `completion`: a shell script that completes commands, options and listed values. It is generated from the commands and
// self-contained, so that completing a word starts no program.
import { fileURLToPath } from 'node:url';
import type { CommandWords, CompleteCommand, LocalCommand } from './command.ts';

type Pair = readonly [key: string, words: readonly string[]];

/** The words that can follow, keyed by the words before them. */
interface Vocabulary {
  /** Every command and every prefix of one: `account`, `account create`. */
  readonly paths: readonly string[];
  /** For each path: the next words of commands. */
  readonly words: readonly Pair[];
  /** For each `path count`: the values of the argument after that many others. */
  readonly arguments: readonly Pair[];
  /** For each path: its options. */
  readonly options: readonly Pair[];
  /** For each `path --option`: its values; empty if the option accepts any value. */
  readonly values: readonly Pair[];
}

const COMMON = ['--json', '--help', '--version'];

/** Returns all prefixes of a name: `med`, `med review` and `med review list`. */
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
      args.flatMap(({ choices }, i): Pair[] => (choices === undefined ? [] : [[`${name} ${i}`, choices]])),
    ),
    options: [
      ...groups.map((path): Pair => [path, COMMON]),
      ...commands.map(
        ({ name, options }): Pair => [name, [...Object.keys(options).map((option) => `--${option}`), ...COMMON]],
      ),
    ],
    values: commands.flatMap(({ name, options }) =>
      Object.entries(options).flatMap(([option, { flag, choices }]): Pair[] =>
        flag ? [] : [[`${name} --${option}`, choices ?? []]],
      ),
    ),
  };
};

const cases = (pairs: readonly Pair[], indent: string): string =>
  pairs.map(([key, words]) => `${indent}'${key}') list='${words.join(' ')}' ;;\n`).join('');
const patterns = (keys: readonly string[]): string => keys.map((key) => `'${key}'`).join(' | ');

/** The script defines `quita` as a short form of npm's script `cli`, for use from any folder. */
const shortForm = (root: string): string => `npm --prefix '${root}' run --silent cli --`;

const bash = (vocabulary: Vocabulary): string => `
# Completes the word at COMP_CWORD; $1: index of the first word that belongs to Quita.
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

/** Completes `npm run cli -- …`, too, and leaves npm's other completions in place. */
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
    '# Whether the words typed so far name this command.',
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
      Object.entries(options).map(([option, { description, flag, choices }]) => {
        const values = choices === undefined ? '' : ` -a ${quoted(choices.join(' '))}`;
        return under(name, `-l ${option} -d ${quoted(description)}${flag ? '' : ' -x'}${values}`);
      }),
    ),
    '',
  ].join('\n');
};

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
/** How to load the script in each shell. */
const SETUP: { readonly [S in Shell]: string } = {
  bash: 'eval "$(npm run -s cli -- completion bash)"   # in ~/.bashrc',
  zsh: 'eval "$(npm run -s cli -- completion zsh)"   # in ~/.zshrc, after compinit',
  fish: 'npm run -s cli -- completion fish | source   # in ~/.config/fish/config.fish',
};

/** Returns the completion script. `root` is the project's folder. */
export const completionScript = (shell: Shell, commands: readonly CommandWords[], root: string): string => {
  const vocabulary = vocabularyOf(commands);
  const head = `# ${shell} completion of Quita's command line: ${SETUP[shell]}\n`;
  if (shell === 'fish')
    return `${head}type -q quita; or function quita; ${shortForm(root)} $argv; end\n${fish(vocabulary, commands)}`;
  const defined = `type quita >/dev/null 2>&1 || quita() { ${shortForm(root)} "$@"; }\n`;
  if (shell === 'zsh') return `${head}${defined}autoload -U +X bashcompinit && bashcompinit\n${bash(vocabulary)}`;
  return `${head}${defined}${bash(vocabulary)}${bashOfNpm}`;
};

/** `all` returns the commands to complete, including this one. */
export const completionCommand = (all: () => readonly CompleteCommand[]): LocalCommand => ({
  name: 'completion',
  summary: 'Print a shell script that completes commands, options and values, and defines the short form quita',
  args: [{ name: 'shell', choices: SHELLS }],
  options: {},
  isLocal: true,
  run: async (_, { args: [shell] }) => {
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
    const script = completionScript(shell as Shell, all(), root);
    return { json: { shell, script }, text: script.trimEnd() };
  },
});
