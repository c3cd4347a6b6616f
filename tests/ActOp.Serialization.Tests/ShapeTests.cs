using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

/// <summary>What a type holds arrives whole, whatever its shape; what cannot, is refused.</summary>
public class ShapeTests
{
    private static readonly Serializer Serializer = new();

    public static IEnumerable<TheoryDataRow<string>> Names =>
        Shapes.All([], []).Select(static (shape, index) => new TheoryDataRow<string>(index + " " + shape.GetType().Name));

    [Theory]
    [MemberData(nameof(Names))]
    public void A_shape_arrives_and_is_copied_whole(string shape)
    {
        var value = Shapes.All([3, 1, 2], ["b", "a", "c"]).ElementAt(int.Parse(shape.Split(' ')[0]));
        Assert.Equal(Describe(value), Describe(Trip(value)));
        Assert.Equal(Describe(value), Describe(new DeepCopier().Copy(value)));
    }

    [Fact]
    public void Shapes_with_any_content_arrive_whole() => Prop.ForAll<int[], NonEmptyString[]>(static (numbers, texts) =>
    {
        foreach (var value in Shapes.All(
            numbers, [.. texts.Select(static text => new string([.. text.Get.Where(static c => !char.IsSurrogate(c))]))]))
        {
            Assert.Equal(Describe(value), Describe(Trip(value)));
        }
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_collection_that_holds_itself_arrives_whole()
    {
        var tree = new Tree { new() };
        tree.Add(tree);
        var read = Trip(tree);
        Assert.Equal(2, read.Count);
        Assert.Same(read, read[1]);
    }

    public static IEnumerable<TheoryDataRow<object>> Compared
    {
        get
        {
            foreach (var comparer in (StringComparer[])[StringComparer.Ordinal, StringComparer.OrdinalIgnoreCase,
                StringComparer.InvariantCulture, StringComparer.InvariantCultureIgnoreCase])
            {
                foreach (var collection in Strings(comparer, comparer))
                    yield return new(collection);
            }

            foreach (var collection in Strings(EqualityComparer<string>.Default, Comparer<string>.Default))
                yield return new(collection);
            var modulo = new ModuloComparer { Modulus = 3 };
            yield return new(new Dictionary<int, string>(modulo) { [1] = "a" });
            yield return new(new HashSet<int>(modulo) { 1, 2 });
            yield return new(new SortedSet<int>(modulo) { 1, 2 });
            yield return new(new Dictionary<object, int>(ReferenceEqualityComparer.Instance));
        }
    }

    [Theory]
    [MemberData(nameof(Compared), DisableDiscoveryEnumeration = true)]
    public void A_comparer_arrives_with_its_collection(object collection)
    {
        Assert.Equal(Describe(collection), Describe(Trip(collection)));
        Assert.Equal(Describe(collection), Describe(new DeepCopier().Copy(collection)));
    }

    [Fact]
    public void A_read_only_dictionary_keeps_the_comparer_of_the_one_behind_it()
    {
        var map = new ReadOnlyDictionary<string, int>(new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase) { ["A"] = 1 });
        Assert.Equal(1, Trip(map)["a"]);
        Assert.Equal(1, new DeepCopier().Copy(map)["a"]);
    }

    [Fact]
    public void A_comparer_that_cannot_be_sent_is_refused_by_name()
    {
        var comparer = new LengthComparer();
        foreach (var collection in Strings(comparer, comparer))
        {
            var error = Assert.ThrowsAny<SerializerException>(() => Serializer.SerializeToArray(collection));
            Assert.Contains(nameof(LengthComparer), error.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_comparer_that_the_constructor_of_a_collection_does_not_make_is_refused()
    {
        var names = new ChosenNames(StringComparer.OrdinalIgnoreCase) { ["A"] = 1 };
        var error = Assert.Throws<SerializerException>(() => Trip(names));
        Assert.Contains(nameof(ChosenNames), error.Message, StringComparison.Ordinal);
        Assert.Throws<SerializerException>(() => new DeepCopier().Copy(names));
    }

    private static IEnumerable<object> Strings(IEqualityComparer<string> equality, IComparer<string> order)
    {
        yield return new Dictionary<string, int>(equality) { ["a"] = 1, ["bb"] = 2 };
        yield return new ConcurrentDictionary<string, int>(equality) { ["a"] = 1 };
        yield return new HashSet<string>(equality) { "a" };
        yield return new SortedDictionary<string, int>(order) { ["b"] = 1, ["aa"] = 2 };
        yield return new SortedList<string, int>(order) { ["b"] = 1, ["aa"] = 2 };
        yield return new SortedSet<string>(order) { "b", "aa" };
        yield return ImmutableDictionary.Create<string, string>(equality, equality).Add("a", "b");
        yield return ImmutableHashSet.Create(equality, "a");
        yield return ImmutableSortedDictionary.Create<string, string>(order, equality).Add("a", "b");
        yield return ImmutableSortedSet.Create(order, "b", "aa");
    }

    private static T Trip<T>(T value) => (T)Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(value!));

    /// <summary>Types, items, comparers and, for types of this assembly, every field, private ones included.</summary>
    private static string Describe(object? value)
    {
        var text = new StringBuilder();
        Describe(text, value, 0);
        return text.ToString();
    }

    private static void Describe(StringBuilder text, object? value, int depth)
    {
        Assert.InRange(depth, 0, 20);
        if (value is null || value is string || value.GetType().IsPrimitive || value is decimal || value is Enum)
        {
            text.Append(value ?? "null").Append(';');
            return;
        }

        var type = value.GetType();
        text.Append(type).Append('{');
        foreach (var name in (string[])["Comparer", "KeyComparer", "ValueComparer"])
        {
            if (type.GetProperty(name)?.GetValue(value) is { } comparer)
                text.Append(name).Append('=').Append(Known(comparer)).Append(';');
        }

        for (var current = type; current is not null; current = current.BaseType)
        {
            if (current.Assembly != typeof(ShapeTests).Assembly)
                continue;
            foreach (var field in current.GetFields(
                BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
            {
                text.Append(field.Name).Append('=');
                Describe(text, field.GetValue(value), depth + 1);
            }
        }

        if (value is Array array)
            text.Append(string.Join('x', Enumerable.Range(0, array.Rank).Select(array.GetLength))).Append(':');
        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>))
        {
            Describe(text, ((dynamic)value).Key, depth + 1);
            Describe(text, ((dynamic)value).Value, depth + 1);
        }
        else if (value is IEnumerable items)
        {
            var parts = items.Cast<object?>().Select(Describe);
            // The order of items in hashed collections is not part of them.
            foreach (var part in IsHashed(type) ? parts.Order(StringComparer.Ordinal) : parts)
                text.Append(part);
        }

        text.Append('}');
    }

    private static bool IsHashed(Type type)
    {
        for (var current = type; current is not null; current = current.BaseType!)
        {
            if (current.IsGenericType && current.GetGenericTypeDefinition() is var definition
                && (definition == typeof(Dictionary<,>) || definition == typeof(ConcurrentDictionary<,>)
                || definition == typeof(HashSet<>) || definition == typeof(ImmutableDictionary<,>)
                    || definition == typeof(ImmutableHashSet<>)))
            {
                return true;
            }
        }

        return false;
    }

    private static string Known(object comparer) => comparer switch
    {
        ModuloComparer modulo => "modulo " + modulo.Modulus,
        _ when comparer.Equals(StringComparer.OrdinalIgnoreCase) => "ordinal, no case",
        _ when comparer.Equals(StringComparer.InvariantCultureIgnoreCase) => "invariant, no case",
        _ => comparer.GetType() + " " + RuntimeHelpers.GetHashCode(comparer),
    };
}
