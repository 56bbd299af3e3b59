// Analysts: grants access to the views of the schema `analytics`, and exports them (ADR 0016).
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ANALYST_LIMITS, type AnalystGrant } from '../../application/ports/analysts.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { accepted, accountIdOf, byOf, type CliCommand, type CliWorld, UsageError } from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';
import { attachToEmbeddedPostgres } from '../embeddedPostgres/embeddedPostgres.ts';
import { exportCommand } from './commands/export.ts';

/** Returns the text of the file without its line end. Throws UsageError if it can't be read. */
const passwordIn = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8').catch((error: { code?: string }) => {
    throw new UsageError(`--password-file ${path} can't be read (${error.code})`);
  });
  return text.replace(/\r?\n$/, '');
};

/** Returns the connection string of the role, without a password. */
const addressOf = async ({ config: { databaseUrl, dataDir } }: CliWorld, role: string): Promise<string> => {
  const url = new URL(databaseUrl ?? (await attachToEmbeddedPostgres(dataDir)));
  url.username = role;
  url.password = '';
  return url.href;
};

const { sessions, statementSeconds } = ANALYST_LIMITS;

const grant: CliCommand = {
  name: 'analytics grant',
  summary: `Let a database role read the views for analysts, and nothing else: ${sessions} sessions, ${statementSeconds} s per statement`,
  args: [{ name: 'role' }],
  options: {
    account: { description: 'only the rows of this account' },
    'password-file': { description: 'file with the password; generated if omitted' },
  },
  changes: 'always',
  run: async (world, { args, options: { account, 'password-file': file } }) => {
    const role = args[0] as string;
    const accountId = account === undefined ? null : accountIdOf(String(account));
    const given = file === undefined ? null : await passwordIn(String(file));
    const password = given ?? randomBytes(24).toString('base64url');
    const { isNew, gaps } = accepted(await world.platform.grantAnalyst({ role, accountId, password }, byOf(world)));
    const address = await addressOf(world, role);
    const json = {
      ...{ role, isNew, address, gaps },
      ...(accountId !== null && { accountId: ACCOUNT.idPrefix + accountId }),
      ...(given === null && { password }),
    };
    const text = [
      `role      ${role}${isNew ? '' : ' (already granted: only the password changed)'}`,
      `rows      ${accountId === null ? 'all accounts' : json.accountId}`,
      `address   ${address}`,
      ...(given === null ? [`password  ${password}`, 'The password is shown only now.'] : []),
      ...gaps.map((gap) => `Warning: ${gap}.`),
    ].join('\n');
    return { json, text };
  },
};

const revoke: CliCommand = {
  name: 'analytics revoke',
  summary: 'End the sessions of an analyst’s role and drop the role',
  args: [{ name: 'role' }],
  changes: 'always',
  run: async (world, { args }) => {
    const role = args[0] as string;
    accepted(await world.platform.revokeAnalyst(role));
    return { json: { role }, text: `${role} revoked` };
  },
};

const shown = ({ accountId, ...grant }: AnalystGrant) => ({
  ...grant,
  accountId: accountId === null ? null : ACCOUNT.idPrefix + accountId,
});

const list: CliCommand = {
  name: 'analytics list',
  summary: 'List the roles of analysts, what they may read, and their open sessions',
  run: async (world) => {
    const analysts = (await world.platform.listAnalysts()).map(shown);
    const rows = analysts.map(({ role, accountId, grantedAt, grantedBy, sessions: open }) => [
      ...[role, accountId ?? 'all accounts', grantedAt, grantedBy, `${open} sessions`],
    ]);
    const text = (screen: Screen) => table(screen, ['ROLE', 'ROWS', 'GRANTED', 'BY', 'OPEN'], rows);
    return { json: { analysts }, text: analysts.length > 0 ? text : 'no analysts' };
  },
};

export const commands: readonly CliCommand[] = [grant, revoke, list, exportCommand];
