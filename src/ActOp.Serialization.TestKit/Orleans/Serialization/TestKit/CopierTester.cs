using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Cloning;
using Xunit;

namespace Orleans.Serialization.TestKit;

/// <summary>Tests of a copier. The values come from the class that derives from this one.</summary>
/// <typeparam name="TValue">What the copier copies.</typeparam>
/// <typeparam name="TCopier">The copier; an interface or an abstract class needs <see cref="CreateCopier"/>.</typeparam>
[Trait("Category", "BVT")]
public abstract class CopierTester<TValue, TCopier> : SerializationTester<TValue>
    where TCopier : class, IDeepCopier<TValue>
{
    private readonly CopyContextPool _contexts;

    /// <summary>Makes the services of one test.</summary>
    protected CopierTester(ITestOutputHelper output)
        : base(output, typeof(TCopier), static options => options.Copiers.Add(typeof(TCopier))) =>
        _contexts = ServiceProvider.GetRequiredService<CopyContextPool>();

    /// <summary>Whether a copy is the value itself.</summary>
    protected virtual bool IsImmutable => false;

    /// <summary>Whether one object stands for all equal values, as with strings.</summary>
    protected virtual bool IsPooled => false;

    /// <summary>A copy equals its original, and is another object unless it cannot change.</summary>
    [Fact]
    public void CopiedValuesAreEqual()
    {
        foreach (var original in Values())
        {
            using var context = _contexts.GetContext();
            var copy = CreateCopier().DeepCopy(original, context);
            Same(original, copy);
            CheckIdentity(original, copy);
        }
    }

    /// <summary>Within one context, an object is copied once.</summary>
    [Fact]
    public void ReferencesAreAddedToCopyContext()
    {
        if (typeof(TValue).IsValueType || IsImmutable)
            return;
        var value = CreateValue();
        using var context = _contexts.GetContext();
        var copier = CreateCopier();
        var first = copier.DeepCopy(value, context);
        Assert.Same(first, copier.DeepCopy(value, context));
        Assert.True(context.TryGetCopy<object>(value, out var recorded));
        Assert.Same(first, recorded);
    }

    /// <summary>By the copier of objects.</summary>
    [Fact]
    public void CanCopyWeaklyTyped()
    {
        var copier = ServiceProvider.GetRequiredService<DeepCopier<object>>();
        foreach (var original in Values())
            Same(original, (TValue)copier.Copy(original!)!);
    }

    /// <summary>Twice in a tuple: what was one object is one object afterwards.</summary>
    [Fact]
    public void CanCopyTupleViaSerializer()
    {
        var copier = ServiceProvider.GetRequiredService<DeepCopier<(TValue, TValue)>>();
        foreach (var original in Values())
        {
            var (first, second) = copier.Copy((original, original));
            Same(original, first);
            CheckIdentity(original, first);
            if (!typeof(TValue).IsValueType)
                Assert.Same(first, second);
        }
    }

    /// <summary>Twice in a tuple that is an object, of the class object.</summary>
    [Fact]
    public void CanCopyUntypedTupleViaSerializer()
    {
        var copier = ServiceProvider.GetRequiredService<DeepCopier<Tuple<object?, object?>>>();
        foreach (var original in Values())
        {
            var boxed = (object?)original;
            var copy = copier.Copy(Tuple.Create(boxed, boxed));
            Same(original, (TValue)copy.Item1!);
            if (!typeof(TValue).IsValueType)
                Assert.Same(copy.Item1, copy.Item2);
        }
    }

    /// <summary>As items of a list and of an array.</summary>
    [Fact]
    public void CanCopyCollectionViaSerializer()
    {
        TValue[] values = [.. Values(), .. Values()];
        Check(ServiceProvider.GetRequiredService<DeepCopier<List<TValue>>>().Copy([.. values]));
        Check(ServiceProvider.GetRequiredService<DeepCopier<TValue[]>>().Copy(values));

        void Check(IList<TValue> copies)
        {
            Assert.Equal(values.Length, copies.Count);
            for (var i = 0; i < values.Length; i++)
            {
                Same(values[i], copies[i]);
                CheckIdentity(values[i], copies[i]);
            }
        }
    }

    /// <summary>The copier under test.</summary>
    protected virtual TCopier CreateCopier() => ServiceProvider.GetRequiredService<TCopier>();

    private void CheckIdentity(TValue original, TValue copy)
    {
        if (typeof(TValue).IsValueType || original is null)
            return;
        if (IsImmutable)
            Assert.Same(original, copy);
        else if (!IsPooled)
            Assert.NotSame(original, copy);
    }
}
