using System.Collections.Concurrent;
using ActOp.Serialization;
using ActOp.Serialization.Fields.Bridging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Activators;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Session;

namespace Orleans.Serialization.Serializers;

/// <summary>
/// Finds the codecs, copiers and activators of one service provider: those of the application, those of the framework's types, and for
/// everything else one that writes what the generated codec writes as one opaque value. Any thread.
/// </summary>
/// <remarks>
/// Owns the objects that it made, one of each codec class. An application's class that cannot be created throws at the first use of its
/// type, and again at the next.
/// </remarks>
public sealed class CodecProvider : ICodecProvider, ICodecScope, IDisposable
{
    private static readonly Dictionary<Type, IFieldCodec> Scalars = new()
    {
        [typeof(bool)] = new BoolCodec(),
        [typeof(byte)] = new ByteCodec(),
        [typeof(sbyte)] = new SByteCodec(),
        [typeof(short)] = new Int16Codec(),
        [typeof(ushort)] = new UInt16Codec(),
        [typeof(int)] = new Int32Codec(),
        [typeof(uint)] = new UInt32Codec(),
        [typeof(long)] = new Int64Codec(),
        [typeof(ulong)] = new UInt64Codec(),
        [typeof(Int128)] = new Int128Codec(),
        [typeof(UInt128)] = new UInt128Codec(),
        [typeof(char)] = new CharCodec(),
        [typeof(Half)] = new HalfCodec(),
        [typeof(float)] = new FloatCodec(),
        [typeof(double)] = new DoubleCodec(),
        [typeof(decimal)] = new DecimalCodec(),
        [typeof(Guid)] = new GuidCodec(),
        [typeof(DateTime)] = new DateTimeCodec(),
        [typeof(DateTimeOffset)] = new DateTimeOffsetCodec(),
        [typeof(DateOnly)] = new DateOnlyCodec(),
        [typeof(TimeOnly)] = new TimeOnlyCodec(),
        [typeof(TimeSpan)] = new TimeSpanCodec(),
        [typeof(string)] = new StringCodec(),
        [typeof(byte[])] = new ByteArrayCodec(),
        [typeof(Type)] = new TypeSerializerCodec(),
        [typeof(object)] = new ObjectCodec(),
    };

    private readonly ConcurrentDictionary<Type, object> _instances = new();
    private readonly ConcurrentDictionary<Type, IFieldCodec> _codecs = new();
    private readonly ConcurrentDictionary<Type, IDeepCopier> _copiers = new();
    private readonly ConcurrentDictionary<Type, (int Version, IFieldCodec? Codec)> _ofApplication = new();
    private readonly TypeManifestOptions _options;
    private readonly Lazy<Generalized> _generalized;
    private ApplicationCodecs? _index;
    private ActOp.Calls.CallRuntime? _runtime;
    private volatile bool _isRuntimeKnown;

    public CodecProvider(IServiceProvider serviceProvider, IOptions<TypeManifestOptions> codecConfiguration)
    {
        Services = serviceProvider;
        _options = codecConfiguration.Value;
        _generalized = new(() => new Generalized(serviceProvider, this));
        CodecScopes.Register(this);
    }

    public IServiceProvider Services { get; }

    /// <summary>Sessions for values within messages of the runtime.</summary>
    internal SerializerSessionPool Sessions => field ??= Services.GetRequiredService<SerializerSessionPool>();

    /// <summary>
    /// True when this provider has taken what it needs of its services, so that it serves values that are under way when these are
    /// disposed of.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The services are gone.</exception>
    internal bool HasServices => Sessions is not null && _generalized.Value is not null;

    /// <summary>The silo or client of the services, to which grain references are bound; null without one.</summary>
    internal ActOp.Calls.CallRuntime? Runtime
    {
        get
        {
            if (!_isRuntimeKnown)
            {
                _runtime = Services.GetService<ActOp.Calls.CallRuntime>();
                _isRuntimeKnown = true;
            }

            return _runtime;
        }
    }

    bool ICodecScope.HasServices => HasServices;

    ActOp.Calls.CallRuntime? ICodecScope.Runtime => Runtime;

    IActivatorProvider ICodecScope.Activators => this;

    private ApplicationCodecs Index
    {
        get
        {
            var index = Volatile.Read(ref _index);
            if (index is not null && index.Version == CodecScopes.Version)
                return index;
            index = new ApplicationCodecs(_options, CodecScopes.Version);
            Volatile.Write(ref _index, index);
            return index;
        }
    }

    public IFieldCodec<TField> GetCodec<TField>() => TryGetCodec<TField>() ?? throw NotFound(typeof(TField), "codec");

    public IFieldCodec<TField>? TryGetCodec<TField>() => TryGetCodec(typeof(TField)) switch
    {
        null => null,
        IFieldCodec<TField> typed => typed,
        var untyped => new UntypedCodec<TField>(untyped),
    };

    public IFieldCodec GetCodec(Type fieldType) => TryGetCodec(fieldType) ?? throw NotFound(fieldType, "codec");

    public IFieldCodec? TryGetCodec(Type fieldType)
    {
        ArgumentNullException.ThrowIfNull(fieldType);
        if (_codecs.TryGetValue(fieldType, out var codec))
            return codec;
        codec = TryGetApplicationCodec(fieldType) ?? FrameworkCodec(fieldType) ?? OpaqueCodec(AnyCodec.FamilyOf(fieldType) ?? fieldType);
        return codec is null ? null : _codecs.GetOrAdd(fieldType, codec);
    }

    public IDeepCopier<T> GetDeepCopier<T>() => TryGetDeepCopier<T>() ?? throw NotFound(typeof(T), "copier");

    public IDeepCopier<T>? TryGetDeepCopier<T>() => TryGetDeepCopier(typeof(T)) switch
    {
        null => null,
        IDeepCopier<T> typed => typed,
        var untyped => new UntypedCopier<T>(untyped),
    };

    public IDeepCopier GetDeepCopier(Type fieldType) => TryGetDeepCopier(fieldType) ?? throw NotFound(fieldType, "copier");

    IDeepCopier IDeepCopierProvider.GetDeepCopier(Type type) => GetDeepCopier(type);

    IDeepCopier? IDeepCopierProvider.TryGetDeepCopier(Type type) => TryGetDeepCopier(type);

    public IDeepCopier? TryGetDeepCopier(Type fieldType)
    {
        ArgumentNullException.ThrowIfNull(fieldType);
        if (_copiers.TryGetValue(fieldType, out var copier))
            return copier;
        copier = fieldType == typeof(object)
            ? new ObjectCopier() : TryGetApplicationCopier(fieldType) ?? OpaqueCopier(AnyCodec.FamilyOf(fieldType) ?? fieldType);
        return copier is null ? null : _copiers.GetOrAdd(fieldType, copier);
    }

    public IBaseCodec<TField> GetBaseCodec<TField>()
        where TField : class
    {
        foreach (var found in Index.FindClasses(typeof(TField), typeof(IBaseCodec<>)))
            return (IBaseCodec<TField>)Instance(found);
        return _generalized.Value.BaseCodec(typeof(TField)) as IBaseCodec<TField>
            ?? TryGetCodec(typeof(TField)) as IBaseCodec<TField> ?? throw NotFound(typeof(TField), "base codec");
    }

    public IValueSerializer<TField> GetValueSerializer<TField>()
        where TField : struct
    {
        foreach (var found in Index.FindClasses(typeof(TField), typeof(IValueSerializer<>)))
            return (IValueSerializer<TField>)Instance(found);
        return TryGetCodec<TField>() switch
        {
            null => throw NotFound(typeof(TField), "value serializer"),
            IValueSerializer<TField> members => members,
            var codec => new FieldValueSerializer<TField>(codec),
        };
    }

    public IBaseCopier<TField> GetBaseCopier<TField>()
        where TField : class
    {
        foreach (var found in Index.FindClasses(typeof(TField), typeof(IBaseCopier<>)))
            return (IBaseCopier<TField>)Instance(found);
        return TryGetDeepCopier(typeof(TField)) as IBaseCopier<TField> ?? throw NotFound(typeof(TField), "base copier");
    }

    public IActivator<T> GetActivator<T>()
    {
        foreach (var found in Index.FindClasses(typeof(T), typeof(IActivator<>)))
            return (IActivator<T>)Instance(found);
        return (IActivator<T>)_instances.GetOrAdd(
            typeof(DefaultActivator<T>), static (_, services) => new DefaultActivator<T>(services), Services);
    }

    /// <summary>Called when the services are disposed of: their codecs serve no other services any more.</summary>
    void IDisposable.Dispose() => CodecScopes.Unregister(this);

    /// <summary>Checks the types of all interfaces in the options, if the options ask for it.</summary>
    void ICodecScope.CheckOptions()
    {
        if (_options.EnableConfigurationAnalysis != true)
            return;
        var missing = SerializerConfigurationAnalyzer.AnalyzeSerializerAvailability(this, _options);
        if (missing.Count > 0)
        {
            throw new CodecNotFoundException(
                "These types of methods have no codec or no copier: " + string.Join(", ", missing.Keys) + ".");
        }
    }

    /// <summary>Whether an application has a generic codec for the types of this definition.</summary>
    internal bool ServesDefinition(Type definition) => Array.Exists(
        [typeof(IFieldCodec<>), typeof(IBaseCodec<>), typeof(IValueSerializer<>), typeof(IConverter<,>)],
        kind => Index.FindClasses(definition, kind).Any());

    /// <summary>The codec that an application has for the type; null when a generated one, or none, serves it.</summary>
    internal IFieldCodec? TryGetApplicationCodec(Type type)
    {
        var version = CodecScopes.Version;
        if (_ofApplication.TryGetValue(type, out var known) && known.Version == version)
            return known.Codec;
        var codec = FindApplicationCodec(type);
        _ofApplication[type] = (version, codec);
        return codec;
    }

    /// <summary>The copier that an application has for the type, or null.</summary>
    internal IDeepCopier? TryGetApplicationCopier(Type type)
    {
        foreach (var found in Index.FindClasses(type, typeof(IDeepCopier<>)))
            return (IDeepCopier)Instance(found);
        if (TryGetApplicationCodec(type) is IDeepCopier both && both.GetType().IsAssignableTo(typeof(IDeepCopier<>).MakeGenericType(type)))
            return both;
        if (type.IsArray && type.IsSZArray && !CodecTable.IsNative(type.GetElementType()!))
            return (IDeepCopier)Make(typeof(ArrayCopier<>), type.GetElementType()!);
        return CodecTable.TryGenerated(type) is null ? _generalized.Value.Copier(type) : null;
    }

    private IFieldCodec? FindApplicationCodec(Type type)
    {
        foreach (var found in Index.FindClasses(type, typeof(IFieldCodec<>)))
            return (IFieldCodec)Instance(found);
        foreach (var found in Index.FindClasses(type, typeof(IBaseCodec<>)))
        {
            return (IFieldCodec)ActivatorUtilities.CreateInstance(
                Services, typeof(ConcreteTypeSerializer<,>).MakeGenericType(type, found), Instance(found));
        }

        foreach (var found in Index.FindClasses(type, typeof(IValueSerializer<>)))
        {
            return (IFieldCodec)ActivatorUtilities.CreateInstance(
                Services, typeof(ValueSerializer<,>).MakeGenericType(type, found), Instance(found));
        }

        foreach (var found in Index.FindClasses(type, typeof(IConverter<,>)))
            return Surrogate(type, found);
        if (Scalars.ContainsKey(type) || CodecTable.TryGenerated(type) is not null)
            return null;
        return OfBase(type) ?? _generalized.Value.Codec(type);
    }

    /// <summary>The codec of a base class that serves those that derive from it too.</summary>
    private IFieldCodec? OfBase(Type type)
    {
        for (var current = type.BaseType; current is not null && current != typeof(object); current = current.BaseType)
        {
            foreach (var found in Index.FindClasses(current, typeof(IFieldCodec<>)))
            {
                if (found.IsAssignableTo(typeof(IDerivedTypeCodec)))
                    return (IFieldCodec)Instance(found);
            }
        }

        return null;
    }

    private IFieldCodec Surrogate(Type type, Type converter)
    {
        var surrogate = converter.GetInterfaces().First(i => i.IsGenericType && i.GetGenericTypeDefinition() == typeof(IConverter<,>)
            && i.GetGenericArguments()[0] == type).GetGenericArguments()[1];
        var definition = type.IsValueType ? typeof(ValueTypeSurrogateCodec<,,>) : typeof(SurrogateCodec<,,>);
        return (IFieldCodec)ActivatorUtilities.CreateInstance(
            Services, definition.MakeGenericType(type, surrogate, converter), Instance(converter));
    }

    private IFieldCodec? FrameworkCodec(Type type)
    {
        if (Scalars.TryGetValue(AnyCodec.FamilyOf(type) == typeof(Type) ? typeof(Type) : type, out var scalar))
            return scalar;
        if (type.IsSZArray)
            return TryGetCodec(type.GetElementType()!) is null ? null : (IFieldCodec)Make(typeof(ArrayCodec<>), type.GetElementType()!);
        if (type.IsConstructedGenericType && type.GetGenericTypeDefinition() == typeof(List<>))
        {
            return TryGetCodec(type.GetGenericArguments()[0]) is null
                ? null : (IFieldCodec)Make(typeof(ListCodec<>), type.GetGenericArguments());
        }

        return type.IsEnum ? (IFieldCodec)Activator.CreateInstance(typeof(EnumFieldCodec<>).MakeGenericType(type))! : null;
    }

    private static IFieldCodec? OpaqueCodec(Type type)
    {
        if (type.ContainsGenericParameters || type == typeof(void) || type.IsPointer || type.IsByRef || type.IsByRefLike)
            return null;
        if (CodecTable.CanResolve(type) || AnyCodec.CanWrite(type))
            return (IFieldCodec)Activator.CreateInstance(typeof(OpaqueCodec<>).MakeGenericType(type))!;
        return null;
    }

    private static IDeepCopier? OpaqueCopier(Type type)
    {
        if (type.ContainsGenericParameters || type == typeof(void) || type.IsPointer || type.IsByRef || type.IsByRefLike)
            return null;
        if (CodecTable.CanResolve(type) || AnyCodec.CanWrite(type))
            return (IDeepCopier)Activator.CreateInstance(typeof(OpaqueCopier<>).MakeGenericType(type))!;
        return null;
    }

    private object Make(Type definition, params Type[] arguments) =>
        ActivatorUtilities.CreateInstance(Services, definition.MakeGenericType(arguments));

    private object Instance(Type type)
    {
        if (_instances.TryGetValue(type, out var found))
            return found;
        return _instances.GetOrAdd(type, Services.GetService(type) ?? ActivatorUtilities.CreateInstance(Services, type));
    }

    private static CodecNotFoundException NotFound(Type type, string what) =>
        new("Could not find a " + what + " for type " + type + ".");

    /// <summary>What the services have for types that they decide about themselves.</summary>
    private sealed class Generalized(IServiceProvider services, CodecProvider provider)
    {
        private readonly IGeneralizedCodec[] _codecs =
            [.. services.GetServices<IGeneralizedCodec>(), .. provider.Index.Create<IGeneralizedCodec>(provider.Instance)];
        private readonly ISpecializableCodec[] _special =
            [.. services.GetServices<ISpecializableCodec>(), .. provider.Index.Create<ISpecializableCodec>(provider.Instance)];
        private readonly ISpecializableBaseCodec[] _specialBases =
            [.. services.GetServices<ISpecializableBaseCodec>(), .. provider.Index.Create<ISpecializableBaseCodec>(provider.Instance)];
        private readonly IGeneralizedBaseCodec[] _bases =
            [.. services.GetServices<IGeneralizedBaseCodec>(), .. provider.Index.Create<IGeneralizedBaseCodec>(provider.Instance)];
        private readonly IGeneralizedCopier[] _copiers =
            [.. services.GetServices<IGeneralizedCopier>(), .. provider.Index.Create<IGeneralizedCopier>(provider.Instance)];
        private readonly ISpecializableCopier[] _specialCopiers =
            [.. services.GetServices<ISpecializableCopier>(), .. provider.Index.Create<ISpecializableCopier>(provider.Instance)];

        internal IFieldCodec? Codec(Type type) =>
            Array.Find(_special, codec => codec.IsSupportedType(type))?.GetSpecializedCodec(type)
                ?? Array.Find(_codecs, codec => codec.IsSupportedType(type));

        internal IBaseCodec? BaseCodec(Type type) =>
            Array.Find(_specialBases, codec => codec.IsSupportedType(type))?.GetSpecializedCodec(type)
                ?? Array.Find(_bases, codec => codec.IsSupportedType(type));

        internal IDeepCopier? Copier(Type type) =>
            Array.Find(_specialCopiers, copier => copier.IsSupportedType(type))?.GetSpecializedCopier(type)
                ?? Array.Find(_copiers, copier => copier.IsSupportedType(type));
    }
}

/// <summary>The codec classes of an application by the types that they serve. Made again when more are registered.</summary>
internal sealed class ApplicationCodecs
{
    private static readonly HashSet<Type> Kinds =
        [typeof(IFieldCodec<>), typeof(IBaseCodec<>), typeof(IValueSerializer<>), typeof(IDeepCopier<>), typeof(IBaseCopier<>),
            typeof(IActivator<>), typeof(IConverter<,>)];

    private readonly Dictionary<(Type Kind, Type Type), Type> _byType = [];
    private readonly HashSet<Type> _all;

    internal ApplicationCodecs(TypeManifestOptions options, int version)
    {
        Version = version;
        _all = [.. options.FieldCodecs, .. options.Serializers, .. options.Copiers, .. options.Converters, .. options.Activators,
            .. FieldCodecSource.CodecTypes];
        foreach (var codec in _all.Where(static t => !t.IsAbstract && !t.IsInterface))
        {
            foreach (var i in codec.GetInterfaces().Where(static i => i.IsGenericType && Kinds.Contains(i.GetGenericTypeDefinition())))
            {
                var served = i.GetGenericArguments()[0];
                if (served.ContainsGenericParameters && !served.IsGenericParameter && served.IsGenericType)
                    served = served.GetGenericTypeDefinition();
                _byType.TryAdd((i.GetGenericTypeDefinition(), served), codec);
            }
        }
    }

    internal int Version { get; }

    /// <summary>The class for the type, closed over its arguments; at most one.</summary>
    internal IEnumerable<Type> FindClasses(Type type, Type kind)
    {
        if (_byType.TryGetValue((kind, type), out var exact))
        {
            yield return exact;
        }
        else if (type.IsConstructedGenericType && _byType.TryGetValue((kind, type.GetGenericTypeDefinition()), out var definition)
            && definition.IsGenericTypeDefinition && definition.GetGenericArguments().Length == type.GetGenericArguments().Length)
        {
            yield return definition.MakeGenericType(type.GetGenericArguments());
        }
    }

    /// <summary>The classes that decide about types themselves.</summary>
    internal IEnumerable<T> Create<T>(Func<Type, object> create) =>
        _all.Where(static t => !t.IsAbstract && !t.IsGenericTypeDefinition && t.IsAssignableTo(typeof(T))).Select(t => (T)create(t));
}
