import { expect } from 'chai';
import fc from 'fast-check';
import { readCallback } from '../../../../infrastructure/providers/pixApi/callbacks.ts';

const ID = 'E12345678202009091221abcdef12345';
const OTHER = 'E12345678202009091221abcdef12346';
const read = (body: unknown) => readCallback(JSON.stringify(body));
const received = (endToEndId: string, txid: string | null) => ({ kind: 'received', endToEndId, txid });

describe('callbacks of the API Pix', () => {
  it('reads a batch, with and without a txid', () => {
    const pix = [{ endToEndId: ID, txid: 'abc1', valor: '1.00' }, { endToEndId: OTHER }];
    expect(read({ pix })).to.deep.equal([received(ID, 'abc1'), received(OTHER, null)]);
  });

  it('reads returns as an object or a list', () => {
    for (const devolucoes of [{ id: '1' }, [{ id: '1' }]])
      expect(read({ pix: [{ endToEndId: ID, txid: 'abc1', devolucoes }] })).to.deep.equal([received(ID, 'abc1')]);
  });

  it('reads a single Pix outside a list', () => {
    expect(read({ pix: { endToEndId: ID } })).to.deep.equal([received(ID, null)]);
  });

  it('reads Efí’s notice of a sent Pix', () => {
    const sent = { endToEndId: 'E090893562021030PIf25a7868', tipo: 'SOLICITACAO', gnExtras: { idEnvio: '123ABC' } };
    expect(read({ pix: [sent, { endToEndId: ID }] })).to.deep.equal([
      { kind: 'sent', id: '123ABC' },
      received(ID, null),
    ]);
  });

  it('recognizes calls that only test the URL', () => {
    for (const raw of ['', ' ', '{}', '{"evento":"teste_webhook","data_criacao":"2026-11-24T01:00:00Z"}'])
      expect(readCallback(raw)).to.equal('testCall');
  });

  it('marks everything else as not understood, for an operator', () => {
    for (const body of [
      null,
      5,
      'pix',
      [],
      [{ endToEndId: ID }],
      { pix: [] },
      { pix: null },
      { pix: 'x' },
      { cobs: [{}] },
    ])
      expect(read(body), JSON.stringify(body)).to.equal('notUnderstood');
    expect(readCallback('{"pix":[')).to.equal('notUnderstood');
    expect(readCallback('<xml/>')).to.equal('notUnderstood');
  });

  it('reads the valid part of a batch, and drops an invalid txid', () => {
    expect(read({ pix: [{ endToEndId: '../cob' }, { endToEndId: ID, txid: 'a/b' }, 7] })).to.deep.equal([
      received(ID, null),
    ]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (raw) => {
        readCallback(raw);
      }),
    );
  });
});
