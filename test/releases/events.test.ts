// A release runs next to its predecessor during an upgrade, so it writes events only in forms that the predecessor can read
// (docs/upgrading.md).
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EVENTS, eventVersions, keptReleases, RELEASES } from './kept.ts';

const versions = eventVersions();

for (const release of keptReleases())
  describe(`stored events next to those of release ${release}`, () => {
    const kept = JSON.parse(readFileSync(new URL(`${release}/${EVENTS}`, RELEASES), 'utf8')) as typeof versions;

    it('can be read in every form that the release wrote', () => {
      const unread = Object.entries(kept).filter(([type, { writes }]) => !((versions[type]?.reads ?? 0) >= writes));
      expect(unread).to.deep.equal([]);
    });

    if (release === keptReleases().at(-1))
      it('are written in forms that the release can read', () => {
        const unreadable = Object.entries(versions).filter(
          ([type, { writes }]) => writes > (kept[type]?.reads ?? writes),
        );
        expect(unreadable, 'name the former version in `writes` (docs/how-to/add-an-event.md)').to.deep.equal([]);
      });
  });
