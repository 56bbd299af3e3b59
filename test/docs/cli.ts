// docs/cli.md: every command, from the words that the command line reads.

import type { CommandWords } from '../../infrastructure/cli/command.ts';
import { COMMANDS } from '../../infrastructure/cli/commands.ts';
import { signature } from '../../infrastructure/cli/program.ts';
import { MIGRATE_EVENTS } from '../../infrastructure/logMigration/migrateEvents.ts';
import { cell } from './markdown.ts';

const INTRO = `# The command line

    npm run cli -- <command> [options]

It works beside the running program: on the database of \`DATABASE_URL\`, or on the embedded one in \`DATA_DIR\` (default \`.data\`).

\`listen\`, \`trigger\`, \`deliveries\` and \`dlq\` act as a merchant over HTTP: with the key in \`API_KEY\` at \`PUBLIC_URL\`, or else as the demo account.

- \`--help\` (\`-h\`, or \`help\` in front) explains the whole, a group of commands, or one command; \`--version\` names the version.
- \`--json\` prints one JSON text instead of lines for people; commands without an end of their own (\`events tail\`, \`deliveries tail\`, \`listen\`) print one
  JSON object a line. Nothing else stands on standard output then.
- Exit code 0: done. 1: something was found wrong, or went wrong. 2: the command or the environment is wrong, which one line on standard
  error explains.
- On a terminal there are colours (\`NO_COLOR\` takes them away, \`FORCE_COLOR\` asks for them elsewhere), tables as wide as the terminal,
  and a bar for long work. Elsewhere rows are whole, with two spaces between cells, and long work says how far it is once a second.
- Whoever changes something stands in the security log, with the command, its arguments and the names of its options.
- \`npm run -s cli -- completion bash\` (or \`zsh\`, \`fish\`) prints a script that completes commands, options and values, and makes the short
  form \`quita\`.
`;

const section = (words: CommandWords, program: string): string => {
  const rows = Object.entries(words.options).map(([name, { description, required, flag, choice }]) => {
    const values = choice === undefined ? '' : `: ${choice.names.map((one) => `\`${one}\``).join(', ')}`;
    return `| \`--${name}${flag ? '' : ' <value>'}\` | ${cell(description)}${required ? ' (required)' : ''}${values} |`;
  });
  const choices = words.args.flatMap(({ name, choice }) =>
    choice === undefined ? [] : [`\n\`<${name}>\` is one of ${choice.names.map((one) => `\`${one}\``).join(', ')}.\n`],
  );
  return [
    `## ${words.name}\n\n    ${program}${signature(words)}\n\n${words.summary}.\n`,
    ...choices,
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
