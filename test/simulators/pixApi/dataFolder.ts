// The folder that holds certificates, keys and client secrets, so that Quita stays connected after a restart.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, makeAuthority } from './authority.ts';
import { letters } from './ids.ts';

const FILES: Readonly<Record<keyof Authority, string>> = {
  ca: 'ca.pem',
  serverCertificate: 'server.pem',
  serverKey: 'server.key',
  clientCertificate: 'client.pem',
  clientKey: 'client.key',
};

/** Only the owner may read the files. */
const write = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });

export class DataFolder {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<DataFolder> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new DataFolder(folder);
  }

  pathOf(name: keyof Authority): string {
    return join(this.#folder, FILES[name]);
  }
  secretFile(client: number): string {
    return join(this.#folder, `client-${client}.secret`);
  }

  /** Returns the stored authority, or makes one at the first start. */
  async authority(): Promise<Authority> {
    const names = Object.keys(FILES) as (keyof Authority)[];
    if (!names.every((name) => existsSync(this.pathOf(name)))) {
      const made = makeAuthority();
      await Promise.all(names.map((name) => write(this.pathOf(name), made[name])));
    }
    const texts = await Promise.all(
      names.map(async (name) => [name, await readFile(this.pathOf(name), 'utf8')] as const),
    );
    return Object.fromEntries(texts) as Record<keyof Authority, string>;
  }

  /** Returns the stored secret, or makes one at the first start. Clients count from 1. */
  async secret(client: number): Promise<string> {
    const path = this.secretFile(client);
    if (!existsSync(path)) await write(path, letters(40));
    return readFile(path, 'utf8');
  }
}
