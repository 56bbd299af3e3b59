// A checkout of another commit: a git worktree with its own packages in bench-results/checkouts, kept for later runs.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'bench-results/checkouts');

const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

export interface Checkout {
  readonly root: string;
  /** The commit's short hash, or `this tree`. */
  readonly name: string;
}

export const thisTree: Checkout = { root: ROOT, name: 'this tree' };

/** Returns the checkout of a commit, and creates it if necessary. Throws if git knows no such commit. */
export const checkoutOf = (commit: string, say: (line: string) => void): Checkout => {
  const hash = git('rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`);
  const name = hash.slice(0, 10);
  const root = join(FOLDER, name);
  const installed = `${root}.installed`;
  if (existsSync(installed) && existsSync(root)) return { root, name };
  rmSync(root, { recursive: true, force: true });
  git('worktree', 'prune');
  say(`${commit}: a checkout in ${root}, npm ci`);
  git('worktree', 'add', '--quiet', '--detach', root, hash);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(installed, '');
  return { root, name };
};

/** Removes all checkouts. */
export const pruneCheckouts = (): void => {
  rmSync(FOLDER, { recursive: true, force: true });
  git('worktree', 'prune');
};
