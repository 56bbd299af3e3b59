// The sandbox's Pix code: dynamic, on the gateway's own host, so that every test charge has a code that reads like a real one.
import type { InstrumentRequest } from '../../../application/ports/paymentProvider.ts';
import type { PixInstrument } from '../../../domain/charge/instruments.ts';
import { buildDynamicBrCode } from '../../../domain/pix/brCode.ts';

/** A dynamic URL has at most 77 characters: the part of the host that must fit leaves this many. */
const LOCATION_MAX = 77;

export const sandboxInstrument = (request: InstrumentRequest): PixInstrument => ({
  provider: 'sandbox',
  txid: request.txid,
  brCode: buildDynamicBrCode({
    url: locationOf(request),
    merchantName: request.receiverName,
    merchantCity: request.receiverCity,
    amount: request.amount,
  }),
  expiresAt: request.expiresAt,
});

/** `host/pix/<txid>`; a host without a dot, or one too long, is not one that a bank's app accepts: then a name of the sandbox. */
const locationOf = ({ baseUrl, txid }: InstrumentRequest): string => {
  const host = new URL(baseUrl).host;
  const location = `${host}/pix/${txid}`;
  return host.includes('.') && !host.includes('[') && location.length <= LOCATION_MAX
    ? location
    : `sandbox.quita.example/pix/${txid}`;
};
