using System.Collections.Concurrent;
using System.Collections.ObjectModel;

namespace ActOp.Serialization.Tests;

/// <summary>One value of every shape that a type with [GenerateSerializer] can have and that travels whole.</summary>
internal static class Shapes
{
    public static IEnumerable<object> All(int[] numbers, string[] texts)
    {
        var number = numbers.Length;
        var text = string.Join('-', texts);
        var keys = texts.Distinct().ToArray();
        yield return new Numbers(numbers) { Label = text };
        yield return new MoreNumbers(numbers) { Label = text, Extra = number };
        yield return new BareNumbers(numbers);
        yield return Fill(new Prefilled(), list => list.Clear(), numbers, static (list, n) => list.Add(n));
        yield return Fill(new Names { Version = number }, null, keys, (map, key) => map[key] = number);
        yield return Fill(new CaselessNames(), null, texts, (map, key) => map[key] = number);
        yield return Fill(new Ranked(), null, numbers, (map, n) => map[n] = text);
        yield return Fill(new RankedList(), null, numbers, (map, n) => map[n] = text);
        yield return Fill(new SharedNames(), null, keys, (map, key) => map[key] = number);
        yield return Fill(new Tags { Kind = text }, null, texts, static (set, t) => set.Add(t));
        yield return Fill(new SortedTags(), null, texts, static (set, t) => set.Add(t));
        yield return Fill(new Waiting(), null, texts, static (queue, t) => queue.Enqueue(t));
        yield return Fill(new Undo(), null, numbers, static (stack, n) => stack.Push(n));
        yield return Fill(new SharedWaiting(), null, texts, static (queue, t) => queue.Enqueue(t));
        yield return Fill(new SharedUndo(), null, numbers, static (stack, n) => stack.Push(n));
        yield return Fill(new Chain(), null, numbers, static (list, n) => list.AddLast(n));
        yield return Fill(new Plain(), null, numbers, static (list, n) => list.Add(n));
        yield return Fill(new Observed(), null, numbers, static (list, n) => list.Add(n));
        yield return Fill(new Kennel { Town = text }, null, keys, static (kennel, key) => kennel.Add(new Dog(1) { Name = key }));
        yield return Fill(new Typed<Money>(), null, numbers, static (list, n) => list.Add(new Money(n, "EUR")));
        yield return new Automatic(number, text) { Kept = number, Renamed = text, Later = numbers };
        yield return new GetOnly(text).With(numbers);
        yield return new Primary(number, text);
        yield return new PrimaryIncluded(number) { More = text };
        yield return new Explicit(number);
        yield return new Bounded(number);
        yield return new BehindStateless(number, text);
        yield return new ReadOnlyPair(number, text);
        yield return new PlainStruct { A = number, B = text };
        yield return new Positional(number, text, numbers) { Extra = number };
        yield return new PositionalChild(number, text, 2.5);
        yield return new Nested<string>.Inner { Value = text, Mode = Nested<string>.Mode.Second, Modes = [Nested<string>.Mode.Second] };
        yield return new Nullables { Number = number, Money = new Money(number, text), Missing = null, Mode = Color.Blue };
        yield return new Grids
        {
            Flat = new int[2, 3] { { 1, 2, 3 }, { 4, 5, number } },
            Deep =
            new string[1, 2, 1] { { { text }, { "b" } } },
            Jagged = [numbers, []]
        };
        yield return new Constrained<Money, List<string>> { Value = new Money(1, "c"), Other = [.. texts] };
        yield return new object[] { Nested<int>.Mode.Second, Color.Blue, DayOfWeek.Friday };
    }

    private static T Fill<T, TItem>(T collection, Action<T>? clear, IEnumerable<TItem> items, Action<T, TItem> add)
    {
        clear?.Invoke(collection);
        foreach (var item in items)
            add(collection, item);
        return collection;
    }
}

[GenerateSerializer]
public class Numbers : List<int>
{
    public Numbers()
    {
    }

    public Numbers(IEnumerable<int> items)
        : base(items)
    {
    }

    [Id(0)]
    public string? Label { get; set; }
}

[GenerateSerializer]
public sealed class MoreNumbers : Numbers
{
    private MoreNumbers()
    {
    }

    public MoreNumbers(IEnumerable<int> items)
        : base(items)
    {
    }

    [Id(0)]
    public int Extra { get; init; }
}

public class StatelessNumbers : List<int>;

[GenerateSerializer]
public sealed class BareNumbers : StatelessNumbers
{
    public BareNumbers()
    {
    }

    public BareNumbers(IEnumerable<int> items) => AddRange(items);
}

[GenerateSerializer]
public sealed class Prefilled : List<int>
{
    public Prefilled() => Add(-1);
}

[GenerateSerializer]
public sealed class Names : Dictionary<string, int>
{
    [Id(0)]
    public int Version { get; set; }
}

[GenerateSerializer]
public sealed class CaselessNames() : Dictionary<string, int>(StringComparer.OrdinalIgnoreCase);

[GenerateSerializer]
public sealed class ChosenNames : Dictionary<string, int>
{
    public ChosenNames()
    {
    }

    public ChosenNames(IEqualityComparer<string> comparer)
        : base(comparer)
    {
    }
}

[GenerateSerializer]
public sealed class Ranked : SortedDictionary<int, string>;

[GenerateSerializer]
public sealed class RankedList : SortedList<int, string>;

[GenerateSerializer]
public sealed class SharedNames : ConcurrentDictionary<string, int>;

[GenerateSerializer]
public sealed class Tags : HashSet<string>
{
    [Id(0)]
    public string? Kind { get; set; }
}

[GenerateSerializer]
public sealed class SortedTags : SortedSet<string>;

[GenerateSerializer]
public sealed class Waiting : Queue<string>;

[GenerateSerializer]
public sealed class Undo : Stack<int>;

[GenerateSerializer]
public sealed class SharedWaiting : ConcurrentQueue<string>;

[GenerateSerializer]
public sealed class SharedUndo : ConcurrentStack<int>;

[GenerateSerializer]
public sealed class Chain : LinkedList<int>;

[GenerateSerializer]
public sealed class Plain : Collection<int>;

[GenerateSerializer]
public sealed class Observed : ObservableCollection<int>;

[GenerateSerializer]
public sealed class Kennel : KeyedCollection<string, Dog>
{
    [Id(0)]
    public string? Town { get; set; }

    protected override string GetKeyForItem(Dog item) => item.Name ?? "";
}

[GenerateSerializer]
public sealed class Typed<T> : List<T>;

[GenerateSerializer]
public sealed class Tree : List<Tree>;

[GenerateSerializer(GenerateFieldIds = GenerateFieldIds.PublicProperties)]
public sealed class Automatic
{
    public Automatic(int number, string text)
    {
        Number = number;
        Text = text;
    }

    public int Number { get; }

    public string Text { get; }

    public int Computed => Number + 1;

    public int Kept { get; set; }

    public string? Renamed { get; init; }

    public required int[] Later { get; init; }

    [System.Diagnostics.CodeAnalysis.SetsRequiredMembers]
    private Automatic() => (Text, Later) = ("", []);
}

[GenerateSerializer]
public sealed class GetOnly(string text)
{
    [Id(0)]
    public string Text { get; } = text;

    [Id(1)]
    public List<int> Items { get; } = [];

    public GetOnly With(int[] items)
    {
        Items.AddRange(items);
        return this;
    }
}

[GenerateSerializer]
public sealed class Primary(int number, string text)
{
    [Id(0)]
    private readonly string _text = text;

    [Id(1)]
    public int Number { get; } = number;

    public string Text => _text;
}

[GenerateSerializer(IncludePrimaryConstructorParameters = true)]
public sealed class PrimaryIncluded(int number)
{
    public int number { get; } = number;

    [Id(0)]
    public string? More { get; set; }
}

public interface INumbered
{
    int Number { get; set; }
}

[GenerateSerializer]
public sealed class Explicit : INumbered
{
    public Explicit(int number) => ((INumbered)this).Number = number;

    [Id(0)]
    int INumbered.Number { get; set; }
}

[GenerateSerializer]
public sealed class Bounded(int number)
{
    [Id(0)]
    public int Number { get => field; set => field = Math.Abs(value); } = number;
}

[GenerateSerializer]
public class Stateful(int number)
{
    [Id(0)]
    private readonly int _number = number;

    public int Number => _number;
}

public abstract class StatelessMiddle(int number) : Stateful(number)
{
    public int Twice => Number * 2;
}

[GenerateSerializer]
public sealed class BehindStateless(int number, string text) : StatelessMiddle(number)
{
    [Id(0)]
    public string Text { get; } = text;
}

[GenerateSerializer]
public readonly struct ReadOnlyPair(int number, string text)
{
    [Id(0)]
    private readonly int _number = number;

    [Id(1)]
    public string Text { get; } = text;

    public int Number => _number;
}

[GenerateSerializer]
public struct PlainStruct
{
    [Id(0)]
    public int A;

    [Id(1)]
    public string B { get; set; }
}

[GenerateSerializer]
public record Positional(int A, string B, int[] C)
{
    [Id(0)]
    public long Extra { get; init; }
}

[GenerateSerializer]
public sealed record PositionalChild(int A, string B, [property: Id(1)] double D) : Positional(A, B, [A]);

public static class Nested<T>
{
    public enum Mode
    {
        First,
        Second,
    }

    [GenerateSerializer]
    public sealed class Inner
    {
        [Id(0)]
        public T? Value { get; set; }

        [Id(1)]
        public Mode Mode { get; set; }

        [Id(2)]
        public List<Mode> Modes { get; set; } = [];
    }
}

[GenerateSerializer]
public sealed class Nullables
{
    [Id(0)]
    public int? Number { get; set; }

    [Id(1)]
    public Money? Money { get; set; }

    [Id(2)]
    public Guid? Missing { get; set; } = Guid.Empty;

    [Id(3)]
    public Color? Mode { get; set; }
}

[GenerateSerializer]
public sealed class Grids
{
    [Id(0)]
    public int[,]? Flat { get; set; }

    [Id(1)]
    public string[,,]? Deep { get; set; }

    [Id(2)]
    public int[][]? Jagged { get; set; }
}

[GenerateSerializer]
public sealed class Constrained<TFirst, TSecond>
    where TFirst : struct, IEquatable<TFirst>
    where TSecond : class, IEnumerable<string>, new()
{
    [Id(0)]
    public TFirst Value { get; set; }

    [Id(1)]
    public TSecond Other { get; set; } = new();
}

[GenerateSerializer]
public sealed class ModuloComparer : IEqualityComparer<int>, IComparer<int>
{
    [Id(0)]
    public int Modulus { get; init; }

    public bool Equals(int x, int y) => x % Modulus == y % Modulus;

    public int GetHashCode(int obj) => obj % Modulus;

    public int Compare(int x, int y) => (x % Modulus).CompareTo(y % Modulus);
}

public sealed class LengthComparer : IEqualityComparer<string>, IComparer<string>
{
    public bool Equals(string? x, string? y) => x?.Length == y?.Length;

    public int GetHashCode(string obj) => obj.Length;

    public int Compare(string? x, string? y) => (x?.Length ?? -1).CompareTo(y?.Length ?? -1);
}
