import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkpointText, readCheckpoint } from '../../../application/audit/checkpoint.ts';
import {
  cosigned,
  noteKeyOf,
  publicBytes,
  readNote,
  readVkey,
  signed,
  signersOf,
  vkeyOf,
  writeNote,
} from '../../../application/audit/signedNote.ts';

// The test data of golang.org/x/mod/sumdb/note.
const NEUMANN = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const NOTE = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;
const neumann = readVkey(NEUMANN)!;
const ROOT = Buffer.alloc(32, 5);
const text = checkpointText({ origin: 'pay.example.com/audit/log', size: 7, root: ROOT });
const { privateKey } = generateKeyPairSync('ed25519');

describe('a signed note', () => {
  it('verifies and reproduces the note of the reference implementation', () => {
    expect(vkeyOf(neumann)).to.equal(NEUMANN);
    const note = readNote(NOTE)!;
    expect(signersOf(note, [neumann])).to.deep.equal([neumann]);
    expect(writeNote(note)).to.equal(NOTE);
  });

  it('is rejected if the text or a signature changed', () => {
    expect(signersOf(readNote(NOTE.replace('answer', 'anSwer'))!, [neumann])).to.equal(null);
    expect(signersOf(readNote(NOTE.replace('x08go/Z', 'x08go/Y'))!, [neumann])).to.equal(null);
  });

  it('is rejected if no known key signed it or a known key’s signature fails; signatures of unknown keys are ignored', () => {
    const key = noteKeyOf('pay.example.com/audit/log', publicBytes(privateKey));
    const note = { text, signatures: [...readNote(NOTE)!.signatures, signed(text, key.name, privateKey)] };
    expect(signersOf(note, [])).to.equal(null);
    expect(signersOf(readNote(writeNote(note))!, [key])).to.deep.equal([key]);
    expect(signersOf(note, [key, neumann])).to.equal(null);
  });

  for (const [why, note] of [
    ['no signature', 'text\n\n'],
    ['no empty line', 'text\n— a AAAAAAAA\n'],
    ['no final newline', NOTE.slice(0, -1)],
    ['a control character', `a\tb${NOTE}`],
    ['a signature that is not base64', NOTE.replace('x08go', 'x0*go')],
    ['a hyphen for the dash', NOTE.replace('—', '-')],
    ['a signature without bytes', 'text\n\n— a AAAAAA==\n'],
  ] as const)
    it(`is rejected with ${why}`, () => expect(readNote(note)).to.equal(null));

  for (const vkey of [
    '',
    'PeterNeumann',
    NEUMANN.replace('c74f', 'c74e'),
    NEUMANN.replace('+AR', '+AB'),
    `${NEUMANN}=`,
  ])
    it(`rejects the key ${vkey}`, () => expect(readVkey(vkey)).to.equal(null));

  it('is read back as written (law)', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-zé/.]{1,20}$/),
        fc.stringMatching(/^([a-z ]{1,9}\n){1,4}(\n[a-z]{1,3}\n)?$/),
        (name, body) => {
          const note = { text: body, signatures: [signed(body, name, privateKey)] };
          expect(readNote(writeNote(note))).to.deep.equal(note);
          const key = noteKeyOf(name, publicBytes(privateKey));
          expect(signersOf(note, [key])).to.deep.equal([key]);
          expect(readVkey(vkeyOf(key))).to.deep.equal(key);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a cosignature', () => {
  const witness = noteKeyOf('witness.example.com', publicBytes(privateKey), 'cosignature');
  it('covers the time and the checkpoint', () => {
    const signature = cosigned(text, witness.name, privateKey, 1_679_315_147);
    expect(signersOf({ text, signatures: [signature] }, [witness])).to.deep.equal([witness]);
    expect(readVkey(vkeyOf(witness))).to.deep.equal(witness);
    const later = Buffer.from(signature.signature);
    later[7]! += 1;
    expect(signersOf({ text, signatures: [{ ...signature, signature: later }] }, [witness])).to.equal(null);
    expect(signersOf({ text: text.replace('\n7\n', '\n8\n'), signatures: [signature] }, [witness])).to.equal(null);
  });

  it('is not valid as a signature of the log', () => {
    const { signature } = signed(text, witness.name, privateKey);
    expect(signersOf({ text, signatures: [{ ...witness, signature }] }, [witness])).to.equal(null);
  });
});

describe('a checkpoint', () => {
  it('has the three lines of the standard', () => {
    expect(text).to.equal('pay.example.com/audit/log\n7\nBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=\n');
    expect(readCheckpoint(text)).to.deep.equal({ origin: 'pay.example.com/audit/log', size: 7, root: ROOT });
    expect(readCheckpoint(`${text}an extension\n`)?.size).to.equal(7);
  });
  for (const bad of [
    text.slice(0, -1),
    text.replace('\n7', '\n07'),
    text.replace('BQ', 'B'),
    `${text}\n`,
    text.slice(25),
  ])
    it(`rejects ${JSON.stringify(bad)}`, () => expect(readCheckpoint(bad)).to.equal(null));
});
