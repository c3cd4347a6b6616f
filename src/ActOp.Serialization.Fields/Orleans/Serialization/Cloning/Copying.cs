using System.Collections.Concurrent;
using Orleans.Serialization.Serializers;

namespace Orleans.Serialization.Cloning;

/// <summary>Copies members of a class.</summary>
public interface IBaseCopier
{
}

/// <summary>Copies members of a class into an object that exists.</summary>
/// <typeparam name="T">The class.</typeparam>
public interface IBaseCopier<T> : IBaseCopier
    where T : class
{
    void DeepCopy(T input, T output, CopyContext context);
}

/// <summary>Makes deep copies.</summary>
public interface IDeepCopier
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    object? DeepCopy(object? input, CopyContext context);
}

/// <summary>Makes deep copies of one type.</summary>
/// <typeparam name="T">The type.</typeparam>
public interface IDeepCopier<T> : IDeepCopier
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    T DeepCopy(T input, CopyContext context);

    /// <inheritdoc/>
    object? IDeepCopier.DeepCopy(object? input, CopyContext context) => DeepCopy((T)input!, context);
}

/// <summary>A copier that may say that copies are not needed.</summary>
public interface IOptionalDeepCopier : IDeepCopier
{
    bool IsShallowCopyable();
}

/// <summary>A copier for a type and all that derive from it.</summary>
public interface IDerivedTypeCopier : IDeepCopier
{
}

/// <summary>A copier that says which types it supports.</summary>
public interface IGeneralizedCopier : IDeepCopier
{
    bool IsSupportedType(Type type);
}

/// <summary>Makes copiers for the types that it supports.</summary>
public interface ISpecializableCopier
{
    bool IsSupportedType(Type type);

    IDeepCopier GetSpecializedCopier(Type type);
}

/// <summary>Finds copiers.</summary>
public interface IDeepCopierProvider
{
    IDeepCopier<T> GetDeepCopier<T>();

    IDeepCopier<T>? TryGetDeepCopier<T>();

    IDeepCopier GetDeepCopier(Type type);

    IDeepCopier? TryGetDeepCopier(Type type);

    IBaseCopier<T> GetBaseCopier<T>()
        where T : class;
}

/// <summary>A copier of values that need no copy.</summary>
/// <typeparam name="T">The type.</typeparam>
public class ShallowCopier<T> : IOptionalDeepCopier, IDeepCopier<T>
{
    public bool IsShallowCopyable() => true;

    public T DeepCopy(T input, CopyContext _) => input;

    public object? DeepCopy(object? input, CopyContext _) => input;
}

/// <summary>The copies made so far in one deep copy. One thread at a time; disposing gives it back to its pool.</summary>
public sealed class CopyContext : IDisposable
{
    private readonly CodecProvider _codecProvider;
    private readonly Action<CopyContext> _onDisposed;

    public CopyContext(CodecProvider codecProvider, Action<CopyContext> onDisposed)
        : this(codecProvider, onDisposed, new ActOp.Wire.CopyContext { Codecs = codecProvider })
    {
    }

    internal CopyContext(CodecProvider codecProvider, Action<CopyContext> onDisposed, ActOp.Wire.CopyContext inner)
    {
        _codecProvider = codecProvider;
        _onDisposed = onDisposed;
        Inner = inner;
    }

    /// <summary>The context of generated copiers: identity is kept across both.</summary>
    internal ActOp.Wire.CopyContext Inner { get; }

    public bool TryGetCopy<T>(object? original, out T? result)
        where T : class
    {
        result = null;
        return original is null || Inner.TryGetCopy(original, out result);
    }

    public void RecordCopy(object original, object copy) => Inner.RecordCopy(original, copy);

    public void Reset() => Inner.Reset();

    public T? DeepCopy<T>(T? value)
    {
        if (value is null)
            return value;
        Session.SerializerSession.CheckDepth();
        var type = typeof(T).IsValueType ? typeof(T) : value.GetType();
        return type == typeof(T)
            ? _codecProvider.GetDeepCopier<T>().DeepCopy(value, this) : (T?)_codecProvider.GetDeepCopier(type).DeepCopy(value, this);
    }

    public void Dispose() => _onDisposed(this);
}

/// <summary>Contexts to use again. Any thread.</summary>
public sealed class CopyContextPool : IDisposable
{
    private const int Kept = 64;

    private readonly ConcurrentBag<CopyContext> _free = [];
    private readonly CodecProvider _codecProvider;

    public CopyContextPool(CodecProvider codecProvider) => _codecProvider = codecProvider;

    public CopyContext GetContext() => _free.TryTake(out var context) ? context : new CopyContext(_codecProvider, Return);

    public void Dispose() => _free.Clear();

    private void Return(CopyContext context)
    {
        context.Reset();
        if (_free.Count < Kept)
            _free.Add(context);
    }
}
