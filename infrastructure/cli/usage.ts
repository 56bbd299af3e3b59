// What the command line says of itself.
import { readFileSync } from 'node:fs';
import type { CliCommand } from './command.ts';

const MANIFEST = new URL('../../package.json', import.meta.url);
/** `quita 0.1.0`. */
export const versionText = (): string =>
  `quita ${(JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version}\n`;

/** `account settings <account> [--rate-limit …]`. */
export const signature = ({ name, args, options }: CliCommand): string => {
  const shownArgs = args.map((arg) => (arg.startsWith('?') ? `[${arg.slice(1)}]` : `<${arg}>`));
  const shownOptions = Object.entries(options).map(([option, { required, flag }]) => {
    const shown = flag ? `--${option}` : `--${option} …`;
    return required ? shown : `[${shown}]`;
  });
  return [name, ...shownArgs, ...shownOptions].join(' ');
};

export const usage = (commands: readonly CliCommand[]): string =>
  `Usage: npm run cli -- <command> [--json] [--help] [--version]\n\n${commands.map((command) => `  ${signature(command)}\n      ${command.summary}\n`).join('')}
It works beside the running program: on DATABASE_URL, or on the embedded database in DATA_DIR (default .data).\n`;

export const help = (command: CliCommand): string => {
  const options = Object.entries(command.options).map(([name, option]) => `  --${name}  ${option.description}\n`);
  return `Usage: npm run cli -- ${signature(command)}\n\n${command.summary}\n${options.length > 0 ? `\n${options.join('')}` : ''}  --json  machine-readable output\n`;
};
