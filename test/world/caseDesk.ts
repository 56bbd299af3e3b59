// One merchant's dispute cases over HTTP, with the bank, the payer and the operators on the other side.
import { expect } from 'chai';
import type { MedCaseView } from '../../domain/presentation/medCase.ts';
import type { Reply, TestGateway } from './gateway.ts';
import { rawIdOf } from './http.ts';
import type { Body } from './merchant.ts';
import { netOf, RefundDesk } from './refundDesk.ts';

export interface Wallet {
  readonly available: number;
  readonly retained: number;
}
export interface Message {
  readonly type: string;
  readonly object: Body;
}

export class CaseDesk {
  readonly desk: RefundDesk;
  readonly merchant: RefundDesk['merchant'];

  private constructor(desk: RefundDesk) {
    this.desk = desk;
    this.merchant = desk.merchant;
  }

  /** Opens a new account with an endpoint that refuses connections. Tests read its messages in the list of deliveries. */
  static async open(gateway: TestGateway): Promise<CaseDesk> {
    const desk = await RefundDesk.open(gateway);
    await desk.merchant.register('http://127.0.0.1:1024/', ['med_case.created', 'med_case.updated', 'med.resolved']);
    return new CaseDesk(desk);
  }

  post<T = MedCaseView>(path: string, body: Body = {}): Promise<Reply<T>> {
    return this.desk.post<T>(path, body);
  }
  async good<T = MedCaseView>(path: string, body: Body = {}, status = 200): Promise<T> {
    const reply = await this.post<T>(path, body);
    expect(reply.status, reply.text).to.equal(status);
    return reply.body;
  }

  paid(amount = 1_000): Promise<string> {
    return this.desk.paid(amount);
  }
  dispute(chargeId: string, body: Body = {}): Promise<MedCaseView> {
    return this.good(`/v1/sandbox/charges/${chargeId}/med`, body, 201);
  }
  async read(id: string): Promise<MedCaseView> {
    const { status, body, text } = await this.merchant.get<MedCaseView>(`/v1/med/cases/${id}`);
    expect(status, text).to.equal(200);
    return body;
  }
  appeal(id: string, reason = 'It was delivered.'): Promise<MedCaseView> {
    return this.good(`/v1/med/cases/${id}/appeal`, { reason });
  }
  accept(id: string): Promise<MedCaseView> {
    return this.good(`/v1/med/cases/${id}/accept`);
  }
  decide(id: string, body: Body): Promise<MedCaseView> {
    return this.good(`/v1/sandbox/med/cases/${id}/decide`, body);
  }
  withdraw(id: string): Promise<MedCaseView> {
    return this.good(`/v1/sandbox/med/cases/${id}/withdraw`);
  }
  review(id: string, approve: boolean): Promise<MedCaseView> {
    return this.good(`/v1/sandbox/med/cases/${id}/review`, { approve });
  }

  /** Opens three cases that wait for an operator: two outcomes to review, and one amount that differs from the charge's. */
  async waiting(): Promise<{ readonly [of in 'approved' | 'refused' | 'mismatch']: MedCaseView }> {
    const approved = await this.dispute(await this.paid());
    const refused = await this.dispute(await this.paid());
    const mismatch = await this.dispute(await this.paid(), { amount: 1 });
    for (const { id } of [approved, refused]) await this.decide(id, { result: 'agreed', review: true });
    return { approved, refused, mismatch };
  }

  async wallet(): Promise<Wallet> {
    const { body } = await this.merchant.get<Wallet>('/v1/wallets/balance');
    return { available: body.available, retained: body.retained };
  }
  async chargeOf(id: string): Promise<{ status: string; med: Body }> {
    const { body } = await this.merchant.get<{ status: string; metadata: { med: Body } }>(`/v1/charges/${id}`);
    return { status: body.status, med: body.metadata.med };
  }
  async transactionStatus(id: string): Promise<unknown> {
    return (await this.merchant.get<Body>(`/v1/payments/${rawIdOf(id)}`)).body['status'];
  }

  /** Waits for `count` webhook messages and returns them, oldest first. */
  async messages(count: number): Promise<readonly Message[]> {
    const all = await this.merchant.untilDeliveries((data) => data.length >= count);
    return all
      .map(({ payload }) => payload as unknown as { type: string; data: { object: Body } })
      .map(({ type, data: { object } }) => ({ type, object }))
      .toReversed();
  }
  /** Returns their types in alphabetical order, because messages of one instant have no fixed order. */
  async types(count: number): Promise<readonly string[]> {
    return (await this.messages(count)).map(({ type }) => type).toSorted();
  }
}

export { netOf };
