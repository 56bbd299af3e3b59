// Makes the cluster: complete under its name, or not at all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, CHILD_ENV, spawnAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';
import { type Layout, renameDurably, unfinishedPath } from './layout.ts';
import type { Settings } from './settings.ts';

/**
 * A kill at any moment leaves a folder of an unfinished name, which the next start removes. initdb has a session of its
 * own: a Ctrl-C during the first start is the program's to answer, after a clean start or a clean failure.
 * The builtin provider sorts by code point as C.UTF-8 does, without depending on the C library's version.
 */
export const initialiseCluster = async (
  layout: Layout,
  settings: Settings,
  binaries: Binaries,
  account: Account | null,
  log: (line: string) => void,
): Promise<void> => {
  const workshop = unfinishedPath(layout);
  const cluster = join(workshop, 'cluster');
  const passwordFile = join(workshop, 'password');
  await mkdir(workshop, { mode: 0o700 });
  try {
    await writeFile(passwordFile, `${settings.password}\n`, { mode: 0o600, flag: 'wx' });
    if (account !== null) {
      await chown(passwordFile, account.uid, account.gid);
      await chown(workshop, account.uid, account.gid);
    }
    const child = spawn(
      binaries.initdb,
      [
        ...['-D', cluster, '--username', settings.user, '--pwfile', passwordFile],
        ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--lc-messages=C'],
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ],
      { ...spawnAs(account), env: CHILD_ENV, cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    log(`creating the database in ${layout.clusterDir}`);
    const [code, ended] = await finished(child);
    if (code !== 0)
      throw new EmbeddedPostgresError(
        'cannot_start',
        `initdb could not make ${layout.clusterDir} (${ended ?? `exit ${code}`}): ${complaints.trim() || 'no reason given'}`,
      );
    await renameDurably(cluster, layout.clusterDir);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

const finished = (child: ReturnType<typeof spawn>): Promise<[number | null, NodeJS.Signals | null]> =>
  once(child, 'close').then(
    (values) => values as [number | null, NodeJS.Signals | null],
    (error: unknown) => {
      throw new EmbeddedPostgresError(
        'binaries_unusable',
        `initdb can't be executed: ${(error as Error).message}`,
        error,
      );
    },
  );
