import { expect } from 'chai';
import {
  findInstrument,
  hasInstrument,
  type Instruments,
  instrumentExpiry,
  lastExpiry,
  NO_INSTRUMENTS,
} from '../../../domain/charge/instruments.ts';
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import { at, EXPIRES_AT, instrument } from '../../support/samples.ts';
import { boleto, card, crypto, mbWay, multibanco } from '../../world/instruments.ts';

const ALL: Instruments = {
  pix: instrument(),
  acquirerInstruments: [card(), mbWay(), multibanco(), boleto(), crypto()],
};

describe('instruments of a charge', () => {
  it('are present or absent by method', () => {
    expect(PAYMENT_METHODS.filter((method) => hasInstrument(ALL, method))).to.deep.equal(PAYMENT_METHODS);
    expect(PAYMENT_METHODS.filter((method) => hasInstrument(NO_INSTRUMENTS, method))).to.deep.equal([]);
    const some: Instruments = { pix: null, acquirerInstruments: [boleto()] };
    expect(PAYMENT_METHODS.filter((method) => hasInstrument(some, method))).to.deep.equal(['BOLETO']);
  });
  it('are found by their method', () => {
    expect(findInstrument(ALL, 'MULTIBANCO')).to.deep.equal(multibanco());
    expect(findInstrument({ pix: instrument(), acquirerInstruments: [card()] }, 'BOLETO')).to.equal(null);
  });
  it('each have their own expiry (I8a)', () => {
    expect(PAYMENT_METHODS.map((method) => instrumentExpiry(ALL, method))).to.deep.equal([
      EXPIRES_AT,
      at('13:30:00'),
      at('13:30:00'),
      '2026-11-24T13:00:00.000Z',
      '2026-11-24T13:00:00.000Z',
      at('14:00:00'),
    ]);
    expect(PAYMENT_METHODS.map((method) => instrumentExpiry(NO_INSTRUMENTS, method))).to.deep.equal(
      Array(6).fill(null),
    );
  });
  it('expire when the last of them expires (I8a)', () => {
    expect(lastExpiry(ALL)).to.equal('2026-11-24T13:00:00.000Z');
    expect(lastExpiry({ pix: instrument(), acquirerInstruments: [card()] })).to.equal(EXPIRES_AT);
    expect(lastExpiry({ pix: instrument({ expiresAt: at('13:10:00') }), acquirerInstruments: [card()] })).to.equal(
      at('13:30:00'),
    );
    expect(lastExpiry({ pix: null, acquirerInstruments: [card()] })).to.equal(at('13:30:00'));
    expect(lastExpiry(NO_INSTRUMENTS)).to.equal(null);
  });
});
