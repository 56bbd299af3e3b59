// postgres.log: what the server says, and what its growing or its last words tell us.
import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { codeOf } from './error.ts';
import type { OsUser } from './osUser.ts';

const ROTATE_AT_BYTES = 16 * 1024 * 1024;

export const logSize = async (logFile: string): Promise<number> =>
  stat(logFile).then(
    (info) => info.size,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return 0;
      throw error;
    },
  );

/** Opened for the server to append to. A log above 16 MB makes room first; one former log is kept. */
export const openServerLog = async (logFile: string, osUser: OsUser | null): Promise<FileHandle> => {
  if ((await logSize(logFile)) > ROTATE_AT_BYTES) await rename(logFile, `${logFile}.1`);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(logFile, flags, 0o600);
  if (osUser !== null) await file.chown(osUser.uid, osUser.gid);
  return file;
};

/** What was written since the log had `offset` bytes, at most the last 64 kB. */
export const readServerLog = async (logFile: string, offset: number): Promise<string> => {
  const end = await logSize(logFile);
  const start = Math.max(offset, end - 65_536);
  if (end <= start) return '';
  const file = await open(logFile, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** The last reason given for not starting, without its time stamp. */
export const reasonIn = (text: string): string => {
  const lines = text.trim().split('\n');
  const fatal = lines.findLast((line) => /\b(FATAL|PANIC):/.test(line));
  return (fatal ?? lines.at(-1) ?? '').replace(/^.*?\b(?=(FATAL|PANIC):)/, '') || 'it gave no reason';
};
