using ActOp.Serialization.Fields.Bridging;
using ActOp.Wire;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Serializers;

namespace Orleans.Serialization;

/// <summary>Makes deep copies; used from any thread.</summary>
public sealed class DeepCopier
{
    private readonly CodecProvider _provider;

    /// <summary>Creates a copier with the generated codecs of the process, and those of applications that need no services.</summary>
    public DeepCopier() => _provider = Bridge.OfNobody;

    /// <summary>Creates a copier with the codecs of a provider; <paramref name="contextPool"/> is not needed.</summary>
    public DeepCopier(CodecProvider codecProvider, CopyContextPool contextPool) => _provider = codecProvider;

    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    /// <exception cref="CodecNotFoundException">There is no codec for a type.</exception>
    public T Copy<T>(T value) =>
        Codec<T>.Default.IsImmutable ? value : Codec<T>.Default.Copy(value, new ActOp.Wire.CopyContext { Codecs = _provider });

    /// <summary>A copier for one type.</summary>
    public DeepCopier<T> GetCopier<T>() => new(this);
}

/// <summary>Makes deep copies of one type.</summary>
/// <typeparam name="T">The static type.</typeparam>
public sealed class DeepCopier<T>
{
    private readonly DeepCopier? _all;
    private readonly IDeepCopier<T>? _copier;
    private readonly CopyContextPool? _contextPool;

    /// <summary>Creates a copier with a copier of its own.</summary>
    public DeepCopier(IDeepCopier<T> copier, CopyContextPool contextPool)
    {
        _copier = copier;
        _contextPool = contextPool;
    }

    internal DeepCopier(DeepCopier copier) => _all = copier;

    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    public T Copy(T value)
    {
        if (_all is not null)
            return _all.Copy(value);
        using var context = _contextPool!.GetContext();
        return value is null ? value : _copier!.DeepCopy(value, context);
    }
}
