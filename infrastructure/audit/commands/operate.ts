// CLI commands for the audit log: its status, its keys and auditors' tokens (rule O1).
import { accepted, type CliCommand, type CliWorld, UsageError } from '../../cli/command.ts';
import { type Screen, table } from '../../cli/output.ts';

type Platform = CliWorld['platform'];
type Status = Awaited<ReturnType<Platform['auditStatus']>>;

const keyTable = (screen: Screen, keys: Status['keys']): string =>
  table(
    screen,
    ['KEY', 'FROM', 'UNTIL'],
    keys.map(({ vkey, from, until }) => [vkey, from, until ?? '']),
  );

const anchorTable = (screen: Screen, anchors: Status['anchors']): string =>
  table(
    screen,
    ['ANCHOR', 'SIZE', 'SENT', 'FAILURES', 'ERROR'],
    anchors.map(({ anchor, size, sentAt, failures, error }) => [
      ...[anchor, String(size), sentAt ?? ''],
      ...[failures === 0 ? '' : String(failures), error ?? ''],
    ]),
  );

const statusText = (screen: Screen, found: Status): string => {
  const { origin, size, root, stopped, lagSeconds, checkpoint, keys, anchors } = found;
  const lines = [
    `log         ${origin}`,
    `tree        ${size} entries, root ${root}`,
    `sealing     ${stopped === null ? `${lagSeconds ?? 'an unknown number of'} s behind` : `STOPPED: ${stopped}`}`,
    `checkpoint  ${checkpoint === null ? 'none yet' : `${checkpoint.size} entries, signed at ${checkpoint.signedAt}`}`,
  ];
  const tables = [
    ...(keys.length === 0 ? [] : [keyTable(screen, keys)]),
    ...(anchors.length === 0 ? [] : [anchorTable(screen, anchors)]),
  ];
  return [lines.join('\n'), ...tables].join('\n\n');
};

const status: CliCommand = {
  name: 'audit status',
  summary: 'Show the audit log: its size, how far sealing is behind, its latest checkpoint, keys and anchors',
  run: async ({ platform }) => {
    const found = await platform.auditStatus();
    const isBad = found.stopped !== null || found.anchors.some(({ failures }) => failures > 0);
    return { json: found, text: (screen: Screen) => statusText(screen, found), isBad };
  },
};

const rotateKey: CliCommand = {
  name: 'audit rotate-key',
  summary: 'Create a new signing key while the programs run; old public keys stay listed',
  changes: 'always',
  run: async ({ platform }) => {
    const keys = accepted(await platform.rotateAuditKey());
    return { json: { keys }, text: (screen: Screen) => keyTable(screen, keys) };
  },
};

const issue: CliCommand = {
  name: 'audit token issue',
  summary: 'Create a token with which an auditor can read the audit log; it is shown once',
  options: { name: { description: 'whom the token is for, 1 to 100 characters', required: true } },
  changes: 'always',
  run: async ({ platform }, { options: { name } }) => {
    const issued = accepted(await platform.issueAuditToken(String(name)));
    return { json: issued, text: `${issued.token}\nid ${issued.id}. The token is not shown again.` };
  },
};

const list: CliCommand = {
  name: 'audit token list',
  summary: 'List auditors’ tokens',
  run: async ({ platform }) => {
    const tokens = await platform.listAuditTokens();
    const rows = tokens.map(({ id, name, createdAt, revokedAt }) => [id, name, createdAt, revokedAt ?? '']);
    const text = (screen: Screen) =>
      rows.length === 0 ? 'no tokens' : table(screen, ['ID', 'NAME', 'CREATED', 'REVOKED'], rows);
    return { json: { tokens }, text };
  },
};

const revoke: CliCommand = {
  name: 'audit token revoke',
  summary: 'End a token’s access at once',
  args: [{ name: 'id' }],
  changes: 'always',
  run: async ({ platform }, { args: [id = ''] }) => {
    if (!/^[0-9a-f]{16}$/.test(id)) throw new UsageError(`"${id}" is not the id of a token (16 hex characters)`);
    const revoked = accepted(await platform.revokeAuditToken(id));
    return { json: revoked, text: `revoked at ${revoked.revokedAt}` };
  },
};

export const auditCommands: readonly CliCommand[] = [status, rotateKey, issue, list, revoke];
