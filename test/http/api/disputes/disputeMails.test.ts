// Mails about dispute cases (Q2, Q7).
import { expect } from 'chai';
import type { Mail, MailSender } from '../../../../application/ports/mail.ts';
import { CaseDesk } from '../../../world/caseDesk.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import { pollUntil } from '../../../world/pollUntil.ts';

const DAY_S = 86_400;

class Mailbox implements MailSender {
  /** By id, so that a mail sent twice counts once. */
  readonly mails = new Map<string, Mail>();
  async send(mail: Mail): Promise<void> {
    this.mails.set(mail.id, mail);
  }
  async forget(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.mails.delete(id);
  }
  close(): void {}
  /** Returns the mails that name the case, in order of first sending. */
  about(caseId: string): readonly Mail[] {
    return [...this.mails.values()].filter(({ text }) => text.includes(caseId));
  }
}

describe('mails about dispute cases (Q7)', () => {
  const mail = new Mailbox();
  let gateway: TestGateway;
  let desk: CaseDesk;
  before(async () => {
    gateway = await openReady({ mail });
  });
  after(() => gateway.close());
  beforeEach(async () => {
    desk = await CaseDesk.open(gateway);
  });

  /** Waits for `count` mails about the case and returns their subjects without the amount. */
  const subjects = async (caseId: string, count: number): Promise<readonly string[]> => {
    const look = async () => (mail.about(caseId).length >= count ? mail.about(caseId) : null);
    const found = await pollUntil(gateway.gateway.reacted, 20_000, look);
    return (found ?? mail.about(caseId)).map(({ subject }) => subject.replace(/: R\$.*$/, '')).toSorted();
  };

  it('are sent for the opening, the request for evidence, the near deadline and the outcome', async () => {
    const order = { amount: 123_456, description: 'Two coffees', metadata: { order_id: 'A-1001' } };
    const { id: paid } = await desk.merchant.charge(order);
    await desk.good(`/v1/sandbox/charges/${paid}/pay`);
    const { id, charge_id: chargeId } = await desk.dispute(paid, { method: 'scam', reason: '<b>scam</b>' });
    await desk.good(`/v1/sandbox/med/cases/${id}/request-evidence`);
    await desk.merchant.advance(2 * DAY_S - 60);
    expect(await subjects(id, 2)).to.deep.equal([
      '[teste] Nova disputa aberta',
      '[teste] Provas solicitadas em uma disputa',
    ]);
    await desk.merchant.advance(120);
    expect(await subjects(id, 3)).to.include('[teste] Prazo de uma disputa próximo do fim');
    await desk.withdraw(id);
    expect(await subjects(id, 4)).to.deep.equal([
      '[teste] Nova disputa aberta',
      '[teste] Prazo de uma disputa próximo do fim',
      '[teste] Provas solicitadas em uma disputa',
      '[teste] Resultado da disputa',
    ]);
    for (const { to, text, html, subject } of mail.about(id)) {
      expect(to).to.equal('teste@example.com');
      expect(subject).to.match(/R\$ 1\.234,56$/);
      expect(text)
        .to.include('Motivo: golpe: <b>scam</b>\n')
        .and.to.include('Pedido: A-1001\nDescrição: Two coffees\n');
      expect(html)
        .to.include('<strong>golpe: &lt;b&gt;scam&lt;/b&gt;</strong>')
        .and.to.include('<strong>A-1001</strong>');
      for (const body of [text, html])
        expect(body).to.include(id).and.to.include(chargeId).and.to.include(`${gateway.baseUrl}/docs/disputes?lang=pt`);
      expect(html).to.match(/^<!doctype html>\n<html lang="pt-BR">/);
    }
    expect(mail.about(id).find(({ subject }) => subject.includes('Nova disputa'))?.text).to.match(
      /Prazo de resposta: \d\d\/\d\d\/\d{4}, \d\d:\d\d \(horário de Brasília\)\./,
    );
  });

  it('include no reminder for a case that was appealed', async () => {
    const { id } = await desk.dispute(await desk.paid());
    await desk.appeal(id);
    await desk.merchant.advance(3 * DAY_S);
    const ended = await desk.decide(id, { result: 'agreed' });
    expect(ended.status).to.equal('rejected');
    expect(await subjects(id, 2)).to.deep.equal(['[teste] Nova disputa aberta', '[teste] Resultado da disputa']);
  });

  it('a passed deadline leaves the case open and is counted', async () => {
    const { id } = await desk.dispute(await desk.paid());
    const { cases } = gateway.gateway.needs;
    const before = await cases.countPastDeadline();
    const pastDeadline = (expected: number): Promise<number | null> =>
      pollUntil(gateway.gateway.projected, 10_000, async () =>
        (await cases.countPastDeadline()) === expected ? expected : null,
      );
    await desk.merchant.advance(4 * DAY_S);
    expect((await desk.read(id)).status).to.equal('open');
    expect(await pastDeadline(before + 1)).to.equal(before + 1);
    expect((await desk.accept(id)).status).to.equal('accepted');
    expect(await pastDeadline(before)).to.equal(before);
  });
});
