// `demo --seed`: a month of three shops, with the same figures in every run (rule N6). It opens an account for each shop and plays the
// month through the public API.
import { Merchant } from '../merchant.ts';
import { SEED_DAYS, SEED_MONTH, SHOPS, type ShopPlan } from './plan.ts';
import { ShopMonth } from './shopMonth.ts';

export interface OpenedShop {
  /** With its prefix. */
  readonly accountId: string;
  readonly testApiKey: string;
}

export interface SeededShop extends OpenedShop {
  readonly name: string;
  readonly email: string;
  readonly payments: number;
}

interface SeedNeeds {
  readonly baseUrl: string;
  /** Opens an account with the plan's name, email address and settings, and without a limit of requests. */
  readonly openShop: (plan: ShopPlan) => Promise<OpenedShop>;
  /** Called with the number of days that are done, of `total`. */
  readonly onProgress: (done: number, total: number) => void;
}

export interface SeededMonth {
  readonly month: string;
  readonly shops: readonly SeededShop[];
}

export const seedMonth = async ({ baseUrl, openShop, onProgress }: SeedNeeds): Promise<SeededMonth> => {
  const opened: SeededShop[] = [];
  for (const plan of SHOPS) {
    const { name, email, orders } = plan;
    opened.push({ name, email, ...(await openShop(plan)), payments: orders.length });
  }
  let done = 0;
  const total = SHOPS.length * SEED_DAYS;
  const live = (plan: ShopPlan, { testApiKey }: OpenedShop) =>
    new ShopMonth(plan, new Merchant(baseUrl, testApiKey)).run(() => onProgress(++done, total));
  await Promise.all(SHOPS.map((plan, n) => live(plan, opened[n] as SeededShop)));
  return { month: SEED_MONTH, shops: opened };
};
