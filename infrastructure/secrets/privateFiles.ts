// Small private files with mode 0600, written completely or not at all.
import { open, readFile, rename } from 'node:fs/promises';

export const readIfThere = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null;
    throw error;
  }
};

/** Writes a temporary file and renames it, so that a crash leaves the old file or the new one. */
export const writeWhole = async (path: string, content: string): Promise<void> => {
  const draft = `${path}.${process.pid}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
};
