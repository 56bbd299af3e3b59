import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { copyForEverybody } from '../../../infrastructure/embeddedPostgres/binaries.ts';
import { firstUnreachable, withAncestors } from '../../../infrastructure/embeddedPostgres/osUser.ts';
import {
  isRoot,
  OWNER_SCRIPT,
  postmasterPidIn,
  query,
  refusal,
  useEmbeddedPostgres,
} from '../../world/embeddedPostgres.ts';

const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534 };
// These tests need root, who can become another user, and a checkout that other users can read.
const nobodyCanRunUs =
  isRoot &&
  (await firstUnreachable(NOBODY, [...withAncestors(process.execPath), ...withAncestors(dirname(OWNER_SCRIPT))])) ===
    null;

describe('embedded PostgreSQL and its user', () => {
  const t = useEmbeddedPostgres();

  describe('the copy of the executables for other users', () => {
    const formerTmp = process.env['TMPDIR'];
    let native: string;
    beforeEach(async () => {
      const project = join(t.folder, `project${t.count}`);
      native = join(project, 'native');
      await mkdir(join(native, 'bin'), { recursive: true });
      await writeFile(join(native, 'bin', 'postgres'), 'program', { mode: 0o700 });
      await writeFile(join(native, 'text'), 'text', { mode: 0o600 });
      await symlink('text', join(native, 'link'));
      process.env['TMPDIR'] = join(t.folder, `tmp${t.count}`);
      await mkdir(process.env['TMPDIR']);
    });
    afterEach(() => {
      if (formerTmp === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = formerTmp;
    });
    const seen = async (place: string): Promise<unknown> => ({
      modes: await Promise.all(
        ['.', 'bin', 'bin/postgres', 'text'].map(async (name) =>
          ((await stat(join(place, name))).mode & 0o777).toString(8),
        ),
      ),
      text: await readFile(join(place, 'link'), 'utf8'),
      beside: (await readdir(dirname(place))).length,
    });
    const whole = { modes: ['755', '755', '755', '644'], text: 'text', beside: 1 };

    it('is complete and shared by concurrent callers', async () => {
      const [place, same] = await Promise.all([copyForEverybody(native, '18.4'), copyForEverybody(native, '18.4')]);
      expect(same).to.equal(place);
      expect(await seen(place)).to.deep.equal(whole);
      const { ino } = await stat(place);
      expect(await copyForEverybody(native, '18.4')).to.equal(place);
      expect((await stat(place)).ino).to.equal(ino);
    });

    it('is repaired if files were deleted, and is separate for each version', async () => {
      const place = await copyForEverybody(native, '18.4');
      await rm(join(place, 'text'));
      expect(await copyForEverybody(native, '18.4')).to.equal(place);
      expect(await seen(place)).to.deep.equal(whole);
      expect(await copyForEverybody(native, '18.5')).not.to.equal(place);
    });

    it('is rejected in a place where other users can write', async () => {
      const place = await copyForEverybody(native, '18.4');
      await chmod(place, 0o777);
      const message = await copyForEverybody(native, '18.4').catch((error: Error) => error.message);
      expect(message).to.equal(
        `${place} was not created by Quita for this user. Remove it, or set TMPDIR to another folder.`,
      );
    });
  });

  // Only for root: the server of an ordinary user runs as that user and needs no other permissions.
  if (isRoot) {
    it('runs as another user for root', async () => {
      await t.start();
      const owner = await stat(join(t.dataDir, 'postgres'));
      expect(owner.uid).not.to.equal(0);
      const status = await readFile(`/proc/${await postmasterPidIn(t.dataDir)}/status`, 'utf8');
      expect(/^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t')).to.deep.equal(Array(4).fill(String(owner.uid)));
      expect(/^Groups:[ \t]*(.*?)[ \t]*$/m.exec(status)?.[1]).to.equal('');
    });

    it('opens an empty data directory to that user, but not one that contains files', async () => {
      t.dataDir = join(t.folder, 'empty');
      await mkdir(t.dataDir, { mode: 0o700 });
      await (await t.start()).stop();
      expect((await stat(t.dataDir)).mode & 0o777).to.equal(0o755);
      await chmod(t.dataDir, 0o700);
      expect((await refusal(t.dataDir)).code).to.equal('data_dir_unreachable');
      expect((await stat(t.dataDir)).mode & 0o777).to.equal(0o700);
      await chmod(t.dataDir, 0o755);
      expect((await t.start()).adopted).to.equal(false);
    });

    it('names the folder that the PostgreSQL user can’t enter', async () => {
      const closed = join(t.folder, 'closed');
      await mkdir(closed, { mode: 0o700 });
      t.dataDir = join(closed, 'data');
      const { code, message } = await refusal(t.dataDir);
      expect(code).to.equal('data_dir_unreachable');
      expect(message).to.match(
        new RegExp(
          `^The data directory ${t.dataDir} can't be used: when root starts Quita, PostgreSQL runs as the user \\w+, who can't enter ${closed}. Correct its permissions, or set DATA_DIR to another folder.$`,
        ),
      );
      expect(await readdir(t.dataDir)).to.deep.equal(['postgres.lock']);
      await chmod(closed, 0o755);
      await t.start();
    });
  }

  if (nobodyCanRunUs) {
    it('runs as the ordinary user who starts it', async () => {
      t.dataDir = join(t.folder, 'ofNobody');
      await mkdir(t.dataDir);
      await chown(t.dataDir, NOBODY.uid, NOBODY.gid);
      const owner = t.own({ uid: NOBODY.uid, gid: NOBODY.gid });
      const { connectionString } = await owner.said('ready');
      expect(await query(connectionString, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
      expect((await stat(join(t.dataDir, 'postgres'))).uid).to.equal(NOBODY.uid);
      await owner.kill();
      const asRoot = await t.start();
      expect((await stat(join(t.dataDir, 'postgres.json'))).uid).to.equal(NOBODY.uid);
      await asRoot.stop();
      expect(await t.own({ uid: NOBODY.uid, gid: NOBODY.gid }).said('ready')).to.deep.equal({
        connectionString,
        adopted: false,
      });
    });
  }
});
