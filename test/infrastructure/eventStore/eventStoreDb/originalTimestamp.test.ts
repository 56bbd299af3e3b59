// The original time of a copied event is added to its metadata, and removed on reading.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  readOriginalTimestamp,
  withOriginalTimestamp,
} from '../../../../infrastructure/eventStore/eventStoreDb/originalTimestamp.ts';
import { anyCharacter } from '../../../support/anyCharacter.ts';

const AT = '2026-11-21T12:00:00.120Z';

describe('the original timestamp', () => {
  it('is added as the last key of the metadata', () => {
    expect(withOriginalTimestamp('{"mode":"test"}', AT)).to.equal(`{"mode":"test","quita_recordedAt":"${AT}"}`);
    expect(withOriginalTimestamp('{}', AT)).to.equal(`{"quita_recordedAt":"${AT}"}`);
    expect(withOriginalTimestamp('{ }', AT)).to.equal(`{ "quita_recordedAt":"${AT}"}`);
    expect(JSON.parse(withOriginalTimestamp('{ \n "a" : 1 \n }', AT))).to.deep.equal({ a: 1, quita_recordedAt: AT });
  });

  it('is removed without a trace', () => {
    for (const metadata of [
      '{}',
      '{ }',
      '{"a":1}',
      '{ "b" : [1, 2] , "a" : {"c":{}}\t}',
      '{"b":1,"a":2,"b":3}',
      '{"ã":"\\ud800"}',
    ])
      expect(readOriginalTimestamp(withOriginalTimestamp(metadata, AT))).to.deep.equal({ metadata, recordedAt: AT });
  });

  it('added twice is removed once: the second one is the outer', () => {
    const once = withOriginalTimestamp('{"a":1}', AT);
    expect(readOriginalTimestamp(withOriginalTimestamp(once, '2027-01-01T00:00:00.000Z'))).to.deep.equal({
      metadata: once,
      recordedAt: '2027-01-01T00:00:00.000Z',
    });
  });

  it('is not found if it was never added', () => {
    const untouched = [
      '{}',
      '{"at":"2026-11-21T12:00:00.120Z"}',
      `{"quita_recordedAt":"${AT}","a":"Z"}`,
      `{"a":{"quita_recordedAt":"${AT}"}}`,
      JSON.stringify({ said: `","quita_recordedAt":"${AT}` }),
      JSON.stringify({ said: `"quita_recordedAt":"${AT}"` }),
      '{"quita_recordedAt":"2026-11-21T12:00:00Z"}',
    ];
    for (const metadata of untouched)
      expect(readOriginalTimestamp(metadata)).to.deep.equal({ metadata, recordedAt: null });
  });

  it('can be added and removed without changing any other byte of the metadata (law)', () => {
    const objects = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue());
    const times = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, ' ', '\t'), times, (object, space, time) => {
        const metadata = JSON.stringify(object, null, space);
        const recordedAt = time.toISOString();
        expect(readOriginalTimestamp(metadata)).to.deep.equal({ metadata, recordedAt: null });
        expect(readOriginalTimestamp(withOriginalTimestamp(metadata, recordedAt))).to.deep.equal({
          metadata,
          recordedAt,
        });
      }),
    );
  });
});
