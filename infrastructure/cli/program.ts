// Parses the command line and prints help, with commander. A wrong command or option fails with one line that suggests the right one;
// commander's own messages, suggestions and exit codes are switched off.
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { type Choice, type CliInput, type CommandWords, UsageError } from './command.ts';
import { meant, meantCommands } from './meant.ts';
import type { Screen } from './output.ts';

/** The words before the name of a command. */
export const PROGRAM = 'npm run cli --';
const FOOTER =
  'Commands work beside the running program, on DATABASE_URL or the embedded database in DATA_DIR (default .data).\n';
/** How many characters of a wrong word an error message quotes. */
const SHOWN_LENGTH_MAX = 100;
const HELP_WIDTH = 100;

const MANIFEST = new URL('../../package.json', import.meta.url);
/** `quita 0.1.0`. */
const versionText = (): string =>
  `quita ${(JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version}\n`;

/** Options of every command. */
const COMMON: readonly (readonly [flags: string, description: string])[] = [
  ['--json', 'machine-readable output'],
  ['-h, --help', 'show this help'],
  ['--version', 'show the version'],
];

/** A command to run with what was typed, or a text to print. */
export type Asked<Words extends CommandWords> =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'command'; readonly command: Words; readonly input: CliInput };

const argumentsOf = ({ args }: CommandWords): readonly string[] =>
  args.map(({ name, optional }) => (optional ? `[${name}]` : `<${name}>`));
const optionTerm = (name: string, { flag }: { flag?: true }): string => (flag ? `--${name}` : `--${name} <value>`);

/** `account settings <account> [--rate-limit <value>] …`. */
export const signature = (words: CommandWords): string => {
  const options = Object.entries(words.options).map(([name, option]) =>
    option.required ? optionTerm(name, option) : `[${optionTerm(name, option)}]`,
  );
  return [words.name, ...argumentsOf(words), ...options].join(' ');
};

/** Switches off commander's own checks and help: `checked` does both. */
const permissive = (node: Command): Command =>
  node
    .argument('[words...]')
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .helpCommand(false)
    .enablePositionalOptions();

/** Describes one command to commander. With `[value]` optional, `--name --email x` isn't read as a name of "--email". */
const describe = (node: Command, words: CommandWords): Command => {
  const required = Object.entries(words.options).flatMap(([name, option]) =>
    option.required ? [optionTerm(name, option)] : [],
  );
  node.description(words.summary).usage([...argumentsOf(words), ...required, '[options]'].join(' '));
  for (const [name, { description, required, flag, choice }] of Object.entries(words.options)) {
    const option = new Option(
      flag ? `--${name}` : `--${name} [value]`,
      `${description}${required ? ' (required)' : ''}`,
    );
    if (choice !== undefined) option.argChoices = [...choice.names];
    node.addOption(option);
  }
  return withCommon(node);
};

const withCommon = (node: Command): Command => {
  for (const [flags, description] of COMMON) node.option(flags, description);
  return node;
};

const leavesOf = (node: Command): readonly Command[] =>
  node.commands.length === 0 ? [node] : node.commands.flatMap(leavesOf);

/** Returns the words from the root to a node, without the program's name. */
const pathOf = (node: Command): string => (node.parent === null ? '' : `${pathOf(node.parent)} ${node.name()}`.trim());

const rootOf = (name: string, { width, colours }: Screen): Command =>
  permissive(new Command(name))
    .configureOutput({ getOutHelpWidth: () => width ?? HELP_WIDTH, getOutHasColors: () => colours.isColorSupported })
    .configureHelp({
      visibleCommands: (node) => [...leavesOf(node)].filter((leaf) => leaf !== node),
      visibleArguments: () => [],
      subcommandTerm: (leaf) => `${pathOf(leaf)} ${leaf.usage().replace(/ ?\[options\]$/, '')}`.trim(),
      optionTerm: ({ flags }) => flags.replace('[value]', '<value>'),
      optionDescription: ({ description, argChoices }) =>
        argChoices === undefined ? description : `${description}: ${argChoices.join(', ')}`,
      styleTitle: colours.bold,
      styleCommandText: colours.cyan,
      styleSubcommandTerm: colours.cyan,
      styleOptionTerm: colours.cyan,
    });

/** Builds the tree of all commands, one level per word of a name. `onNode` gets the node that the command line names. */
const treeOf = (commands: readonly CommandWords[], screen: Screen, onNode: (node: Command) => void): Command => {
  const root = withCommon(rootOf(PROGRAM, screen)).usage('<command> [options]');
  const nodes = new Map<string, Command>([['', root]]);
  const nodeOf = (path: string): Command => {
    const known = nodes.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf(' ');
    const parent = nodeOf(path.slice(0, Math.max(cut, 0)));
    const node = permissive(parent.command(path.slice(cut + 1)));
    nodes.set(path, node);
    return node;
  };
  for (const words of commands) describe(nodeOf(words.name), words);
  for (const [path, node] of nodes) {
    if (path !== '' && node.commands.length > 0) withCommon(node).usage('<command> [options]');
    node.action(() => onNode(node));
  }
  return root;
};

const shortened = (text: string): string => text.slice(0, SHOWN_LENGTH_MAX);
/** Returns the words before the first option. */
const namesOf = (words: readonly string[]): readonly string[] => {
  const end = words.findIndex((word) => word.startsWith('-'));
  return end === -1 ? words : words.slice(0, end);
};

/** Returns an error about the first unknown option, or null if all are known. `name` is the command's name. */
const unknownOption = (node: Command, name: string): string | null => {
  const typed = node.args.find((word) => word.length > 1 && word.startsWith('-'));
  if (typed === undefined) return null;
  const flag = typed.replace(/=.*$/s, '');
  const known = node.options.map((option) => option.name());
  if (known.includes(flag.slice(2))) return `${flag} takes no value`;
  const near = meant(flag.replace(/^-+/, ''), known);
  const hint = near === null ? `${name} --help lists them` : `did you mean "${name} --${near}"?`;
  return `unknown option ${shortened(flag)}; ${hint}`;
};

/** Throws UsageError unless the word is one of the choices. `whole` returns the command with the suggested word. */
const checkChoice = ({ what, names }: Choice, typed: string, whole: (name: string) => string): void => {
  if (names.includes(typed)) return;
  const near = meant(typed, names);
  const hint = near === null ? `choose one of ${names.join(', ')}` : `did you mean "${whole(near)}"?`;
  throw new UsageError(`unknown ${what} "${shortened(typed)}"; ${hint}`);
};

/** Returns the checked call of one command, or its help. Throws UsageError if the call is invalid. */
const checked = <Words extends CommandWords>(node: Command, command: Words, name: string): Asked<Words> => {
  const refuse = (what: string): never => {
    throw new UsageError(`${name}: ${what}`);
  };
  const unknown = unknownOption(node, name);
  if (unknown !== null) refuse(unknown);
  const typed = node.optsWithGlobals<{ readonly [attribute: string]: string | true }>();
  const options: Record<string, string | true> = {};
  for (const option of node.options) {
    const value = node.getOptionValue(option.attributeName()) as string | true | undefined;
    const own = command.options[option.name()];
    if (value === undefined || own === undefined) continue;
    if (!own.flag && value === true) refuse(`--${option.name()} needs a value`);
    options[option.name()] = value;
  }
  if (typed['help']) return { kind: 'text', text: node.helpInformation() };
  if (typed['version']) return { kind: 'text', text: versionText() };
  for (const [option, { required }] of Object.entries(command.options))
    if (required && !options[option]) refuse(`--${option} is required`);
  const { args } = node;
  const missing = command.args.findIndex((argument, i) => !argument.optional && args[i] === undefined);
  const expected = `expected: ${signature(command)}`;
  if (missing !== -1) refuse(`<${command.args[missing]?.name}> is missing; ${expected}`);
  if (args.length > command.args.length) {
    const extra = `unexpected argument "${shortened(args[command.args.length] as string)}"`;
    if (command.takes !== undefined) throw new UsageError(`${extra}; ${command.takes}`);
    refuse(`${extra}; ${expected}`);
  }
  for (const [i, { choice }] of command.args.entries())
    if (choice !== undefined && args[i] !== undefined)
      checkChoice(choice, args[i], (near) => [name, ...args.with(i, near)].join(' '));
  const flags = Object.entries(options).flatMap(([option, value]) => (value === true ? [`--${option}`] : []));
  for (const [option, { choice }] of Object.entries(command.options)) {
    const value = options[option];
    if (choice !== undefined && typeof value === 'string')
      checkChoice(choice, value, (near) => [name, ...args, ...flags, `--${option} ${near}`].join(' '));
  }
  return { kind: 'command', command, input: { args, options, isJson: typed['json'] === true } };
};

const noSuchCommand = (commands: readonly CommandWords[], typed: readonly string[]): UsageError => {
  if (typed.length === 0) return new UsageError(`no command given; ${PROGRAM} --help lists them`);
  const names = commands.map(({ name }) => name);
  const near = meantCommands(typed, names).map((name) => `"${name}"`);
  const hint = near.length === 0 ? `${PROGRAM} --help lists them` : `did you mean ${near.join(' or ')}?`;
  return new UsageError(`unknown command "${shortened(typed.join(' '))}"; ${hint}`);
};

/** Returns the help of all commands or of one group. Throws UsageError if the words name no command. */
const explained = (node: Command, commands: readonly CommandWords[]): string => {
  const path = pathOf(node);
  const behind = namesOf(node.args);
  const typed = [...path.split(' ').filter((word) => word !== ''), ...behind];
  if (behind.length > 0) throw noSuchCommand(commands, typed);
  const name = path || PROGRAM;
  const unknown = unknownOption(node, name);
  if (unknown !== null) throw new UsageError(`${name}: ${unknown}`);
  const { help, version } = node.optsWithGlobals<{ help?: true; version?: true }>();
  if (version) return versionText();
  if (help) return `${node.helpInformation()}\n${FOOTER}`;
  throw noSuchCommand(commands, typed);
};

/** Finds the command and reads its arguments and options. Throws UsageError if they are invalid. */
export const readWords = <Words extends CommandWords>(
  commands: readonly Words[],
  typed: readonly string[],
  screen: Screen,
): Asked<Words> => {
  const words = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
  let asked: Asked<Words> | null = null;
  const root = treeOf(commands, screen, (node) => {
    const path = pathOf(node);
    const command = commands.find(({ name }) => name === path);
    asked = command === undefined ? { kind: 'text', text: explained(node, commands) } : checked(node, command, path);
  });
  root.parse(words, { from: 'user' });
  if (asked === null) throw new Error('commander called no action');
  return asked;
};

/** Reads the arguments and options of a program with a single command. Throws UsageError if they are invalid. */
export const readOnly = <Words extends CommandWords>(
  command: Words,
  typed: readonly string[],
  screen: Screen,
): Asked<Words> => {
  const root = describe(rootOf(command.name, screen), command).action(() => undefined);
  root.parse(typed, { from: 'user' });
  return checked(root, command, command.name);
};

/** Returns the help of all commands. */
export const usage = (commands: readonly CommandWords[], screen: Screen): string =>
  `${treeOf(commands, screen, () => undefined).helpInformation()}\n${FOOTER}`;
