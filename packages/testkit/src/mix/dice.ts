/** Chance, with what the mix asks of it. */
import { Chance } from "../world/chance.ts";

export class Dice extends Chance {
  pick<A>(items: readonly A[]): A {
    return items[this.below(items.length)] as A;
  }

  isUnder(percent: number): boolean {
    return this.below(100) < percent;
  }

  list<A>(most: number, make: (index: number) => A): readonly A[] {
    return Array.from({ length: this.below(most + 1) }, (_, i) => make(i));
  }
}
