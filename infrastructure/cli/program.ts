// Parses the command line and prints help, with commander. A wrong command or option fails with one line.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../system/version.ts';
import { type CliInput, type CommandWords, UsageError } from './command.ts';
import type { Screen } from './output.ts';

/** The words before the name of a command. */
const PROGRAM = 'npm run cli --';
const FOOTER =
  '\nCommands work beside the running program, on DATABASE_URL or the embedded database in DATA_DIR (default .data).\n';
/** Longer words are cut when an error message quotes them. */
const LONG_WORD = /(\S{100})\S+/g;
const HELP_WIDTH = 100;

/** A command to run with its input, or a text to print. */
export type Asked<Words extends CommandWords> =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'command'; readonly command: Words; readonly input: CliInput };

const nodeOf = (name: string, { width, colours }: Screen): Command =>
  new Command(name)
    .helpCommand(false)
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureOutput({ getOutHelpWidth: () => width ?? HELP_WIDTH, getOutHasColors: () => colours.isColorSupported })
    .configureHelp({
      subcommandTerm: (one) => `${one.name()} ${one.usage().replace(/\[options\] ?/, '')}`.trim(),
      styleTitle: colours.bold,
      styleCommandText: colours.cyan,
      styleSubcommandTerm: colours.cyan,
      styleOptionTerm: colours.cyan,
    });

const withCommon = (node: Command): Command =>
  node.option('--json', 'machine-readable output').version(`quita ${VERSION}`, '--version', 'show the version');

/** Otherwise `--name --email x` would be read as a name of "--email". */
const givenValue = (text: string): string => {
  if (text.startsWith('--')) throw new InvalidArgumentError('It needs a value.');
  return text;
};

/** Describes one command to commander. */
const describe = (node: Command, words: CommandWords): Command => {
  node.description(words.summary).action(() => undefined);
  for (const { name, optional, choices } of words.args) {
    const argument = new Argument(optional ? `[${name}]` : `<${name}>`);
    node.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const [name, { description, required, flag, choices }] of Object.entries(words.options)) {
    const option = new Option(
      flag ? `--${name}` : `--${name} <value>`,
      `${description}${required ? ' (required)' : ''}`,
    ).makeOptionMandatory(required === true);
    if (!flag) option.argParser(givenValue);
    node.addOption(choices === undefined ? option : option.choices(choices));
  }
  return withCommon(node);
};

/** Returns the text that was requested instead of a command, or null. Throws UsageError if the words are wrong. */
const parse = (node: Command, typed: readonly string[]): string | null => {
  let text = '';
  node.configureOutput({ writeOut: (part) => (text += part), writeErr: () => undefined });
  try {
    node.parse(typed, { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return text;
    const [, message = '', suggestion = ''] = /^(?:error: )?([^\n]*)\n?(.*)$/.exec(error.message) ?? [];
    const says = error.code === 'commander.help' ? 'no command given' : message.replace(LONG_WORD, '$1…');
    throw new UsageError(`${says} ${suggestion || `(${node.name()} --help explains it)`}`);
  }
};

const helpOf = (commands: readonly CommandWords[], name: string, screen: Screen): Command => {
  const root = withCommon(nodeOf(name, screen)).usage('<command> [options]').addHelpText('after', FOOTER);
  for (const words of commands) root.addCommand(describe(nodeOf(words.name, screen), words));
  return root;
};

/** Returns the requested help or version. Throws UsageError if the words, which name no command, request neither. */
const textOf = (
  commands: readonly CommandWords[],
  names: readonly string[],
  flags: readonly string[],
  screen: Screen,
): string => {
  const typed = names.join(' ');
  const inOrder = (words: readonly string[]): string => words.toSorted().join(' ');
  const meant = commands.find(
    ({ name }) => inOrder(name.split(' ')) === inOrder(typed.toLowerCase().split(/[-_:./ ]/)),
  );
  if (meant !== undefined) throw new UsageError(`unknown command '${typed}' (Did you mean ${meant.name}?)`);
  const group = commands.filter(({ name }) => typed === '' || name.startsWith(`${typed} `));
  const isGroup = group.length > 0;
  const root = helpOf(isGroup ? group : commands, [PROGRAM, ...(isGroup ? names : [])].join(' '), screen);
  return parse(root, isGroup ? flags : [typed]) as string; // a program without a command of its own always throws or prints
};

/** Finds the command and reads its arguments and options. Throws UsageError if they are invalid. */
export const readWords = <Words extends CommandWords>(
  commands: readonly Words[],
  typed: readonly string[],
  screen: Screen,
): Asked<Words> => {
  const words = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
  const isFlag = (word: string): boolean => /^-./s.test(word);
  const start = words.findIndex((word) => !isFlag(word));
  // Flags of every command may come before its name.
  const [first, rest] = start === -1 ? [words, []] : [words.slice(0, start), words.slice(start)];
  const end = rest.findIndex(isFlag);
  const names = end === -1 ? rest : rest.slice(0, end);
  const command = commands.find(({ name }) => name === names.slice(0, name.split(' ').length).join(' '));
  if (command === undefined)
    return { kind: 'text', text: textOf(commands, names, [...first, ...rest.slice(names.length)], screen) };
  const more = [...rest.slice(command.name.split(' ').length), ...first];
  return readOnly(command, more, screen, `${PROGRAM} ${command.name}`);
};

/** Reads the arguments and options of a program with a single command. Throws UsageError if they are invalid. */
export const readOnly = <Words extends CommandWords>(
  command: Words,
  typed: readonly string[],
  screen: Screen,
  name = command.name,
): Asked<Words> => {
  const node = describe(nodeOf(name, screen), command);
  const text = parse(node, typed);
  if (text !== null) return { kind: 'text', text };
  const { args } = node;
  const options = Object.fromEntries(
    node.options.flatMap((option) => {
      const value = node.getOptionValue(option.attributeName()) as string | true | undefined;
      return value === undefined || !Object.hasOwn(command.options, option.name()) ? [] : [[option.name(), value]];
    }),
  );
  return { kind: 'command', command, input: { args, options, isJson: node.opts()['json'] === true } };
};

/** Returns the help of all commands. */
export const usage = (commands: readonly CommandWords[], screen: Screen): string =>
  textOf(commands, [], ['--help'], screen);
