// Generates docs/cli.md from the definitions of commands.

import type { CommandWords } from '../../infrastructure/cli/command.ts';
import { COMMANDS } from '../../infrastructure/cli/commands.ts';
import { MIGRATE_EVENTS } from '../../infrastructure/logMigration/migrateEvents.ts';
import { cell } from './markdown.ts';

const INTRO = `# The command line

    npm run cli -- <command> [options]

Commands work beside the running program, on the database of \`DATABASE_URL\` or the embedded one in \`DATA_DIR\` (default \`.data\`).

\`listen\`, \`trigger\`, \`deliveries\` and \`dlq\` call the API as a merchant at \`PUBLIC_URL\`. They use the key in \`API_KEY\`, or else the
demo account.

- \`--help\` (\`-h\`, or \`help\` as the first word) explains all commands, a group or one command. \`--version\` prints the version.
- \`--json\` prints one JSON text instead of tables. Commands that run until Ctrl-C (\`events tail\`, \`deliveries tail\`, \`listen\`) print one
  JSON object per line. Nothing else is printed to standard output.
- Exit code 0: success. 1: the command found a problem or failed unexpectedly. 2: the command or the environment is wrong; one line on
  standard error explains it.
- On a terminal, output has colours, tables that fit the terminal, and a progress bar for long work. \`NO_COLOR\` switches colours off, and
  \`FORCE_COLOR\` switches them on elsewhere. In other outputs, rows are uncut, two spaces separate the cells, and progress is printed at
  most once a second. In every row, \`?\` replaces control characters.
- Every change is written to the security log, with the operator, the command, its arguments, the names of its options and the outcome:
  \`done\`, \`incomplete\` (the command found a problem), \`refused\` or \`failed\`.
- \`npm run -s cli -- completion bash\` (or \`zsh\`, \`fish\`) prints a script that completes commands, options and values, and defines the
  short form \`quita\`.
`;

const optionTerm = (name: string, { flag }: { flag?: true }): string => (flag ? `--${name}` : `--${name} <value>`);

/** Returns a usage line such as `account settings <account> [--rate-limit <value>] …`. */
const signature = ({ name, args, options }: CommandWords): string =>
  [
    name,
    ...args.map((one) => (one.optional ? `[${one.name}]` : `<${one.name}>`)),
    ...Object.entries(options).map(([option, words]) =>
      words.required ? optionTerm(option, words) : `[${optionTerm(option, words)}]`,
    ),
  ].join(' ');

const section = (words: CommandWords, program: string): string => {
  const rows = Object.entries(words.options).map(([name, { description, required, flag, choices }]) => {
    const values = choices === undefined ? '' : `: ${choices.map((one) => `\`${one}\``).join(', ')}`;
    return `| \`--${name}${flag ? '' : ' <value>'}\` | ${cell(description)}${required ? ' (required)' : ''}${values} |`;
  });
  const values = words.args.flatMap(({ name, choices }) =>
    choices === undefined ? [] : [`\n\`<${name}>\` is one of ${choices.map((one) => `\`${one}\``).join(', ')}.\n`],
  );
  return [
    `## ${words.name}\n\n    ${program}${signature(words)}\n\n${words.summary}.\n`,
    ...values,
    ...(rows.length === 0 ? [] : [`\n| option | |\n|---|---|\n${rows.join('\n')}\n`]),
  ].join('');
};

export const cliPage = (): string =>
  [
    INTRO,
    ...COMMANDS.map((words) => section(words, 'npm run cli -- ')),
    section({ ...MIGRATE_EVENTS, summary: MIGRATE_EVENTS.summary.replace(/\.$/, '') }, ''),
  ]
    .join('\n')
    .replace('## npm run migrate-events --', '## migrate-events');
