// The origin of checkpoints is a key name of signed notes: it can't contain spaces or plus signs, whatever PUBLIC_URL contains.
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { noteKeyOf, publicBytes } from '../../../application/audit/signedNote.ts';
import { originOfLog } from '../../../infrastructure/audit/adapters.ts';
import { loadConfig } from '../../../infrastructure/config/config.ts';

describe('the origin of checkpoints', () => {
  for (const [url, origin] of [
    ['https://pay.example.com', 'pay.example.com/audit/log'],
    ['http://127.0.0.1:3000/', '127.0.0.1:3000/audit/log'],
    ['https://example.com/pay+bill/a b', 'example.com/pay%2Bbill/a%20b/audit/log'],
    ['https://bücher.example/pix\u00a0á', 'xn--bcher-kva.example/pix%C2%A0%C3%A1/audit/log'],
  ] as const)
    it(`of ${url} is ${origin}`, () => {
      const { publicUrl } = loadConfig({ PUBLIC_URL: url });
      expect(originOfLog(`${publicUrl}/audit/log`)).to.equal(origin);
      const { publicKey } = generateKeyPairSync('ed25519');
      expect(noteKeyOf(origin, publicBytes(publicKey)).name).to.equal(origin);
    });
});
