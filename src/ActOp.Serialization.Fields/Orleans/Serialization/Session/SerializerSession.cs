using System.Runtime.CompilerServices;
using ActOp.Wire;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.TypeSystem;

namespace Orleans.Serialization.Session;

/// <summary>
/// The objects of one message of an application's codecs, by the order in which they were written or read. One thread at a time.
/// </summary>
public sealed class ReferencedObjectCollection
{
    private readonly Dictionary<uint, object?> _objects = [];
    private readonly Dictionary<object, uint> _ids = new(ReferenceEqualityComparer.Instance);

    /// <summary>True if an object was read, other than a text, that a field referred to again.</summary>
    internal bool HasShared { get; set; }

    /// <summary>The number of the last field.</summary>
    public uint CurrentReferenceId { get; set; }

    public object? TryGetReferencedObject(uint reference) => _objects.GetValueOrDefault(reference);

    /// <summary>Counts a value that is not referred to.</summary>
    public void MarkValueField() => ++CurrentReferenceId;

    /// <summary>Counts an object; true, with its number, when it was written before; 0 is null.</summary>
    public bool GetOrAddReference(object? value, out uint reference)
    {
        var next = ++CurrentReferenceId;
        if (value is null)
        {
            reference = 0;
            return true;
        }

        if (_ids.TryGetValue(value, out reference))
            return true;
        reference = next;
        _ids.Add(value, next);
        return false;
    }

    /// <summary>The number of an object that was read or written; -1 when it was not.</summary>
    public int GetReferenceIndex(object? value)
    {
        if (value is null)
            return 0;
        if (_ids.TryGetValue(value, out var id))
            return (int)id;
        foreach (var (key, other) in _objects)
        {
            if (ReferenceEquals(other, value))
                return (int)key;
        }

        return -1;
    }

    public void RecordReferenceField(object? value) => RecordReferenceField(value, ++CurrentReferenceId);

    public void RecordReferenceField(object? value, uint referenceId)
    {
        if (value is not null)
            _objects[referenceId] = value;
    }

    public Dictionary<uint, object?> CopyReferenceTable() => new(_objects);

    public Dictionary<object, uint> CopyIdTable() => new(_ids, ReferenceEqualityComparer.Instance);

    public void Reset()
    {
        _objects.Clear();
        _ids.Clear();
        CurrentReferenceId = 0;
        HasShared = false;
    }
}

/// <summary>The types of one message of an application's codecs whose names were written or read. One thread at a time.</summary>
public sealed class ReferencedTypeCollection
{
    private readonly List<Type> _types = [];
    private readonly Dictionary<Type, uint> _ids = [];

    public Type GetReferencedType(uint reference) =>
        TryGetReferencedType(reference, out var type) ? type! : throw new UnknownReferencedTypeException(reference);

    public bool TryGetReferencedType(uint reference, out Type? type)
    {
        type = reference < (uint)_types.Count ? _types[(int)reference] : null;
        return type is not null;
    }

    public void RecordReferencedType(Type type)
    {
        _ids.TryAdd(type, (uint)_types.Count);
        _types.Add(type);
    }

    public bool TryGetTypeReference(Type type, out uint reference) => _ids.TryGetValue(type, out reference);

    /// <summary>False, after it has been added, for a type that was not written before.</summary>
    public bool GetOrAddTypeReference(Type type, out uint reference)
    {
        if (_ids.TryGetValue(type, out reference))
            return true;
        reference = (uint)_types.Count;
        RecordReferencedType(type);
        return false;
    }

    public void Reset()
    {
        _types.Clear();
        _ids.Clear();
    }
}

/// <summary>Numbers of types that both sides know.</summary>
public sealed class WellKnownTypeCollection
{
    private readonly Dictionary<uint, Type> _types;
    private readonly Dictionary<Type, uint> _ids;

    public WellKnownTypeCollection(IOptions<TypeManifestOptions> config)
    {
        _types = new(config.Value.WellKnownTypeIds);
        _ids = _types.GroupBy(static p => p.Value).ToDictionary(static g => g.Key, static g => g.First().Key);
    }

    public Type? GetWellKnownType(uint typeId) =>
        typeId == 0 ? null : _types.TryGetValue(typeId, out var type) ? type : throw new UnknownWellKnownTypeException(typeId);

    public bool TryGetWellKnownType(uint typeId, out Type? type)
    {
        type = null;
        return typeId == 0 || _types.TryGetValue(typeId, out type);
    }

    public bool TryGetWellKnownTypeId(Type type, out uint typeId) => _ids.TryGetValue(type, out typeId);
}

/// <summary>What lasts for one message of an application's codecs. One thread at a time; disposing gives it back to its pool.</summary>
public sealed class SerializerSession : IDisposable
{
    public SerializerSession(TypeCodec typeCodec, WellKnownTypeCollection wellKnownTypes, CodecProvider codecProvider)
    {
        TypeCodec = typeCodec;
        WellKnownTypes = wellKnownTypes;
        CodecProvider = codecProvider;
    }

    public TypeCodec TypeCodec { get; }

    public WellKnownTypeCollection WellKnownTypes { get; }

    public CodecProvider CodecProvider { get; }

    public ReferencedTypeCollection ReferencedTypes { get; } = new();

    public ReferencedObjectCollection ReferencedObjects { get; } = new();

    /// <summary>The pool that this one is given back to.</summary>
    internal SerializerSessionPool? Pool { get; set; }

    /// <summary>The message of the runtime that this one is a value of: its limits go on here.</summary>
    internal WireSession? Outer { get; set; }

    public void Reset()
    {
        ReferencedObjects.Reset();
        ReferencedTypes.Reset();
    }

    public void PartialReset() => ReferencedObjects.Reset();

    public void Dispose()
    {
        Outer = null;
        Reset();
        Pool?.Return(this);
    }

    /// <summary>Called per header: an object of fields within fields takes stack in the codecs of the application.</summary>
    internal static void CheckDepth()
    {
        if (!RuntimeHelpers.TryEnsureSufficientExecutionStack())
            throw new SerializerException("Objects are nested deeper than the stack allows.");
    }
}

/// <summary>Sessions to use again. Any thread.</summary>
public sealed class SerializerSessionPool : IDisposable
{
    private const int Kept = 64;

    private readonly System.Collections.Concurrent.ConcurrentBag<SerializerSession> _free = [];
    private readonly TypeCodec _typeCodec;
    private readonly WellKnownTypeCollection _wellKnownTypes;
    private bool _isDisposed;

    public SerializerSessionPool(TypeCodec typeCodec, WellKnownTypeCollection wellKnownTypes, CodecProvider codecProvider)
    {
        _typeCodec = typeCodec;
        _wellKnownTypes = wellKnownTypes;
        CodecProvider = codecProvider;
    }

    public CodecProvider CodecProvider { get; }

    public SerializerSession GetSession() =>
        _free.TryTake(out var session) ? session : new SerializerSession(_typeCodec, _wellKnownTypes, CodecProvider) { Pool = this };

    public void Dispose()
    {
        _isDisposed = true;
        _free.Clear();
    }

    internal void Return(SerializerSession session)
    {
        if (!_isDisposed && _free.Count < Kept)
            _free.Add(session);
    }
}
