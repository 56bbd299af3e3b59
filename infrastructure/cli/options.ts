// Options and arguments of a command, read strictly: what can't be meant is refused in one line that says what probably was.
import { parseArgs } from 'node:util';
import { UsageError } from './command.ts';
import { meant } from './meant.ts';

export interface OptionRule {
  readonly required?: true;
  /** Takes no value. */
  readonly flag?: true;
}
export interface OptionsRead {
  readonly values: { readonly [name: string]: string | true };
  readonly positionals: readonly string[];
}

const SHORT: ReadonlyMap<string, string> = new Map([['h', 'help']]);
const COMMON: { readonly [name: string]: OptionRule } = {
  json: { flag: true },
  help: { flag: true },
  version: { flag: true },
};

/** `command`: what stands before the options. `own`: besides --json, --help (-h) and --version. Throws UsageError. */
export const readOptions = (
  command: string,
  words: readonly string[],
  own: { readonly [name: string]: OptionRule },
): OptionsRead => {
  const rules: { readonly [name: string]: OptionRule } = { ...own, ...COMMON };
  const options = Object.fromEntries(
    Object.entries(rules).map(([name, { flag }]) => [
      name,
      { type: flag ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...words],
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string | true>();
  const positionals: string[] = [];
  const refuse = (what: string): never => {
    throw new UsageError(`${command}: ${what}`);
  };
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      const near = meant(SHORT.get(name) ?? name, Object.keys(rules));
      refuse(
        `there is no option ${rawName}; ${near === null ? `${command} --help lists them` : `did you mean "${command} --${near}"?`}`,
      );
    } else if (rule.flag && value !== undefined) refuse(`${rawName} takes no value`);
    else if (!rule.flag && (value === undefined || (!token.inlineValue && /^-./.test(value))))
      refuse(`${rawName} needs a value`);
    else values.set(name, value ?? true);
  }
  return { values: Object.fromEntries(values), positionals };
};
