import { StoreFailure } from './failures.ts';

/** The value, or a StoreFailure of kind `notSent` when it takes longer. What was begun goes on, unheard. */
export const withTimeout = async <T>(value: Promise<T>, ms: number, message: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StoreFailure('notSent', `${message} within ${Math.round(ms)} ms`)),
      Math.max(ms, 1),
    );
  });
  value.catch(() => undefined);
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
};
