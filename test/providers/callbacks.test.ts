// Callbacks generated from the central bank’s schema, and damaged ones: the reader never throws and only extracts ids to look up.
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { ReadCallback } from '../../application/ports/providerConnections.ts';
import { readCallback } from '../../infrastructure/providers/pixApi/callbacks.ts';
import { damaged, mutations } from './support/mutations.ts';
import { judged, readDocument, validatorOf } from './support/schema.ts';
import { valuesOf } from './support/schemaValues.ts';

interface Callback {
  readonly pix?: readonly { readonly endToEndId: string; readonly txid?: string }[];
}
const RUNS = 1_000;

/** Throws unless the result is one that the port declares. */
const expectDeclared = (read: ReadCallback): void => {
  if (read === 'testCall' || read === 'notUnderstood') return;
  expect(read).to.not.have.length(0);
  for (const hint of read)
    if (hint.kind === 'sent') expect(hint.id).to.match(/^[a-zA-Z0-9]{1,35}$/);
    else {
      expect(hint.endToEndId).to.match(/^[A-Za-z0-9]{32}$/);
      if (hint.txid !== null) expect(hint.txid).to.match(/^[a-zA-Z0-9]{1,35}$/);
    }
};

judged('callbacks by the schema of the central bank', (schema) => {
  const document = readDocument(schema);
  const body = document.components.requestBodies['WebhookPixBody']?.content['application/json'].schema ?? {};
  const callbacks = valuesOf(document, body) as fc.Arbitrary<Callback>;

  const isValid = validatorOf(document, body);

  it('yield the ids of all their Pix', () => {
    fc.assert(
      fc.property(callbacks, (callback) => {
        expect(isValid(callback)).to.equal(true);
        const { pix = [] } = callback;
        fc.pre(pix.length > 0);
        const hints = pix.map(({ endToEndId, txid }) => ({
          kind: 'received',
          endToEndId,
          txid: txid ?? null,
        }));
        expect(readCallback(JSON.stringify(callback))).to.deep.equal(hints);
      }),
      { numRuns: RUNS },
    );
  });

  it('yield ids or nothing when damaged', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(callbacks, mutations, (callback, damage) => {
        const read = readCallback(damaged(JSON.stringify(callback), damage));
        seen.add(typeof read === 'string' ? read : 'hints');
        expectDeclared(read);
      }),
      { numRuns: RUNS },
    );
    expect([...seen].sort()).to.deep.equal(['hints', 'notUnderstood', 'testCall']);
  });

  it('yield ids or nothing for arbitrary input', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.jsonValue().map((pix) => JSON.stringify({ pix })),
    );
    fc.assert(
      fc.property(texts, (text) => expectDeclared(readCallback(text))),
      { numRuns: RUNS },
    );
  });
});
