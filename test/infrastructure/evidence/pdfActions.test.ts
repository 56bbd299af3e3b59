// PDFs that run code when they are opened are rejected, however the code is hidden (rule E9).
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import PDFDocument from 'pdfkit';
import { actionProblem } from '../../../infrastructure/evidence/pdfActions.ts';
import { jpegImage, pdfFile } from '../../support/images.ts';
import { cpuMsHere } from '../../support/longestTurn.ts';

const UNSAFE = 'contains JavaScript or launch actions';
const UNREADABLE = 'contains compressed objects that cannot be examined';

/** Returns a PDF with an additional object. */
const withObject = (object: string | Buffer): Buffer => {
  const [head = '', tail = ''] = pdfFile().toString('latin1').split('trailer');
  return Buffer.from(`${head}4 0 obj\n${object.toString('latin1')}\nendobj\ntrailer${tail}`, 'latin1');
};
const stream = (dictionary: string, bytes: Buffer): Buffer =>
  Buffer.from(`<<${dictionary}/Length ${bytes.length}>>\nstream\n${bytes.toString('latin1')}\nendstream`, 'latin1');
const objects = (text: string): Buffer =>
  stream('/Type/ObjStm/N 1/First 4/Filter/FlateDecode', deflateSync(Buffer.from(`4 0 ${text}`)));

const ACTIONS = [
  '<</S/JavaScript/JS(app.alert(1))>>',
  '<</S /JavaScript /JS 7 0 R>>',
  '<</S\n%comment\n/JavaScript\n/JS<616263>>>',
  '<</Names<</JavaScript 5 0 R>>>>',
  '<</S/Java#53cript/#4aS(x)>>',
  '<</S/#4A#61#76#61#53#63#72#69#70#74>>',
  '<</S/Launch/F(cmd.exe)>>',
  '<</S/L#61unch/F(cmd.exe)>>',
  '<</S/Rendition/JS(x)>>',
  '<</AcroForm<</XFA 9 0 R>>>>',
  '<</OpenAction<</JS(app.alert(1))>>>>',
];

describe('a PDF', () => {
  for (const action of ACTIONS) {
    it(`with ${action} is rejected, both in plain and in compressed objects`, () => {
      expect(actionProblem(withObject(action))).to.equal(UNSAFE);
      expect(actionProblem(withObject(objects(action)))).to.equal(UNSAFE);
    });
  }
  it('with an action in a nested or an unterminated stream is rejected', () => {
    const hidden = objects('<</S/JavaScript/JS(x)>>').toString('latin1');
    expect(actionProblem(withObject(`% stream\n${hidden}`))).to.equal(UNSAFE);
    expect(actionProblem(withObject(stream('', Buffer.from(hidden, 'latin1'))))).to.equal(UNSAFE);
    expect(actionProblem(withObject(hidden.replace('endstream', '')))).to.equal(UNSAFE);
    expect(actionProblem(withObject(hidden.replace('/Type/ObjStm', '/Type 9 0 R')))).to.equal(UNSAFE);
    expect(actionProblem(withObject(hidden.replace('stream\n', 'stream\r\n')))).to.equal(UNSAFE);
  });
  it('with an action after a megabyte of blanks or empty blocks in compressed objects is rejected', () => {
    const [blanks, action] = [' '.repeat(1_000_000), '0 <</S/JavaScript/JS(x)>>'];
    for (const text of [`${blanks}4 ${action}`, `4${blanks}${action}`])
      expect(actionProblem(withObject(stream('/Filter/FlateDecode', deflateSync(Buffer.from(text)))))).to.equal(UNSAFE);
    const [header, block] = [Buffer.from('789c', 'hex'), Buffer.from('000000ffff', 'hex')];
    const empty = Buffer.concat([header, ...Array<Buffer>(200).fill(block)]);
    const late = Buffer.concat([empty, deflateSync(Buffer.from(`4 ${action}`)).subarray(2)]);
    expect(actionProblem(withObject(stream('/Filter/FlateDecode', late)))).to.equal(UNSAFE);
  });
  it('with similar names is accepted: longer ones, other letters, links', () => {
    for (const harmless of [
      '<</S/URI/URI(https://example.com/javascript)>>',
      '<</S/GoTo/D[3 0 R/Fit]>>',
      '<</Title(JavaScript, Launch)>>',
      '<</S/JavaScripts/Launcher 1/JSON 2/XFAB 3>>',
    ]) {
      expect(actionProblem(withObject(harmless)), harmless).to.equal(null);
      expect(actionProblem(withObject(objects(harmless))), harmless).to.equal(null);
    }
  });
  it('with images, compressed pages and any bytes in its streams is accepted', () => {
    expect(actionProblem(withObject(stream('/Filter/DCTDecode', jpegImage())))).to.equal(null);
    expect(actionProblem(withObject(stream('', Buffer.from('binary /JS(binary'))))).to.equal(null);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        for (const sent of [Buffer.from(bytes), deflateSync(bytes)])
          expect(actionProblem(withObject(stream('/Filter/FlateDecode', sent)))).to.equal(null);
      }),
      { numRuns: 200 },
    );
  });
  it('as real programs write it is accepted', async () => {
    const document = new PDFDocument();
    const chunks: Buffer[] = [];
    document.on('data', (part: Buffer) => chunks.push(part));
    const ended = new Promise((resolve) => document.on('end', resolve));
    for (let page = 0; page < 5; page++) document.addPage().text('Comprovante de entrega').image(jpegImage(), 50, 80);
    document.end();
    await ended;
    expect(actionProblem(Buffer.concat(chunks))).to.equal(null);
  });
  it('whose compressed objects expand beyond the limit is rejected', () => {
    const bomb = deflateSync(Buffer.concat([Buffer.from('1 0 '), Buffer.alloc(60_000_000, ' ')]));
    expect(actionProblem(withObject(stream('/Filter/FlateDecode', bomb)))).to.equal(UNREADABLE);
    const many = Array.from({ length: 12 }, () =>
      stream('', deflateSync(Buffer.concat([Buffer.from('1 0 '), Buffer.alloc(5_000_000, ' ')]))),
    );
    expect(actionProblem(withObject(Buffer.concat(many)))).to.equal(UNREADABLE);
  });
  it('of hostile bytes is examined in limited time', () => {
    const zeroes = Buffer.from(`78010000${'00ffff'}`, 'hex');
    const empty = Buffer.concat(Array<Buffer>(400_000).fill(Buffer.from('000000ffff', 'hex')));
    const ofLongHeads = (fill: string) => {
      const begun = deflateSync(Buffer.from(`${fill.repeat(528_000)}x`)).subarray(0, 512);
      return Buffer.alloc(10_000_000, stream('', begun));
    };
    for (const body of [
      ofLongHeads(' '),
      ofLongHeads('a'),
      Buffer.alloc(10_000_000, 'stream\n'),
      Buffer.alloc(10_000_000, 'stream\nx\x9c'),
      Buffer.alloc(10_000_000, '/#4a#61'),
      Buffer.alloc(10_000_000, '/JavaScrip'),
      Buffer.concat([Buffer.from('stream\n'), deflateSync(Buffer.from('1 0 ')).subarray(0, 8), zeroes, empty]),
    ]) {
      const began = process.threadCpuUsage();
      actionProblem(Buffer.concat([Buffer.from('%PDF-1.4\n'), body]));
      expect(process.threadCpuUsage(began).user / 1_000, body.toString('latin1', 0, 12)).to.be.below(cpuMsHere(3_000));
    }
  });
});
