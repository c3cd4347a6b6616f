using System.Buffers;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// Any exception: header, then type name, message, remote stack, inner exceptions, HResult and, in blocks that can be skipped, its data
/// and the members of a type with [GenerateSerializer]. A type that is not known is read as UnavailableExceptionFallbackException.
/// </summary>
internal sealed class ExceptionCodec<T> : Codec<T>, IBodyCodec
    where T : Exception
{
    /// <summary>Exceptions are shared, as a rethrown one is.</summary>
    public override bool IsImmutable => true;

    public bool IsTracked => true;

    public override T Copy(T value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
            writer.WriteByte(Header.Null);
        else if (Header.TryTrack(ref writer, value))
            WriteBehind(ref writer, value);
    }

    public override T Read(ref WireReader reader)
    {
        var at = reader.Position;
        var header = reader.ReadVarUInt32();
        switch (header)
        {
            case Header.Null:
                return null!;
            case Header.ExactTracked:
                reader.Session.Enter();
                var value = ExceptionBody.Read(ref reader, at);
                reader.Session.Exit();
                return Header.Fit<T>(value);
            case < Header.TypedTracked + 1:
                throw Parsing.Invalid("exception");
            default:
                return Header.TryFind<T>(ref reader, at, header, out var found) ? found! : Header.ReadSkipped(this, ref reader, at, header);
        }
    }

    public void WriteObject(ref WireWriter writer, object value) => ExceptionBody.Write(ref writer, (Exception)value);

    public object ReadObject(ref WireReader reader, int at) => ExceptionBody.Read(ref reader, at);

    private static void WriteBehind(ref WireWriter writer, Exception value)
    {
        writer.WriteByte(Header.ExactTracked);
        writer.Session.Enter();
        ExceptionBody.Write(ref writer, value);
        writer.Session.Exit();
    }
}

/// <summary>What is written of an exception; see <see cref="ExceptionCodec{T}"/>.</summary>
internal static class ExceptionBody
{
    /// <summary>The memory of an exception, without its texts.</summary>
    private const int Bytes = 256;

    /// <summary>Longest stack trace, and text of an object in the data, on the wire; longer ones are truncated.</summary>
    private const int MaxText = 32 * 1024;

    /// <summary>Most inner exceptions of one, and most entries of its data, on the wire; further ones are left out.</summary>
    private const int MaxItems = 1024;

    /// <summary>Longest members for which the getter of a message is called: objects in them are not deep.</summary>
    private const int MaxMembersOfMessage = 4096;

    /// <summary>
    /// The stack trace of an exception. A simulation sets another: the text has names of files and numbers of lines, and its length depends
    /// on what the compiler has inlined.
    /// </summary>
    internal static Func<Exception, string?> StackOf { get; set; } = static exception => exception.StackTrace;

    internal static void Write(ref WireWriter writer, Exception value)
    {
        var type = value.GetType();
        writer.WriteString(value is UnavailableExceptionFallbackException { ExceptionType: { } original }
            ? original : TypeManifest.TryNameOf(type, out var name) ? name : type.FullName ?? type.Name);
        var message = value.Message;
        var stored = Fields.Message(value);
        writer.WriteNullableString(message);
        writer.WriteByte(stored == message ? (byte)0 : (byte)1);
        if (stored != message)
            writer.WriteNullableString(stored);
        var stack = StackOf(value);
        writer.WriteNullableString(Short(stack));
        writer.WriteVarInt32(value.HResult);
        WriteInner(ref writer, value);
        WriteNotes(ref writer, value.Data);
        var members = writer.BeginLength();
        if (CodecTable.TryGenerated(type) is IBodyCodec generated)
            generated.WriteObject(ref writer, value);
        else if (SerializableEntries.AreOf(type))
            SerializableEntries.WriteAdded(ref writer, value);
        writer.EndLength(members);
    }

    internal static Exception Read(ref WireReader reader, int at)
    {
        var session = reader.Session;
        var start = reader.Position;
        var outer = session.Begin(start);
        var name = reader.ReadString();
        var message = reader.ReadNullableString();
        var stored = reader.ReadByte() == 0 ? message : reader.ReadNullableString();
        var stack = reader.ReadNullableString();
        var hresult = reader.ReadVarInt32();
        var type = ExceptionTypes.FindType(name);
        if (type is not null && !ExceptionTypes.IsPermitted(type, session))
            type = null;
        var value = type is null || type == typeof(AggregateException) ? null : (Exception)RuntimeHelpers.GetUninitializedObject(type);
        if (value is not null && at >= 0)
            session.AddOpen(at, value);
        var inners = ReadInner(ref reader);
        var inner = inners.Length > 0 ? inners[0] : null;
        if (value is null)
        {
            value = type is null
                ? new UnavailableExceptionFallbackException(message ?? "", inner!) { ExceptionType = name }
                : new AggregateException(message, inners);
            if (at >= 0)
                session.AddRead(at, value);
        }

        Charge(session, session.SetReach(at, outer, reader.Position), reader.Position - start);
        Fields.Message(value) = stored;
        Fields.Inner(value) = inner;
        value.HResult = hresult;
        ReadRest(ref reader, value, type, message, stored);
        Charge(session, session.EndCompared(outer, reader.Position, at, levels: 1), reader.Position - start);
        if (stack is not null)
            ExceptionDispatchInfo.SetRemoteStackTrace(value, stack);
        return value;
    }

    /// <summary>
    /// Texts of exceptions go on to the inner ones and to members, as often as they are referred to, and each level copies them. What was
    /// written at its place is free.
    /// </summary>
    private static void Charge(WireSession session, Reach reach, int written)
    {
        var added = Math.Max(0, reach.Bytes - written);
        session.Charge(reach with { Bytes = added * (1 + (reach.Height / 16)) }, 0, walks: 1);
    }

    /// <summary>Leaves out what would be too deep for the reader.</summary>
    private static void WriteInner(ref WireWriter writer, Exception value)
    {
        var inners = value is AggregateException aggregate
            ? aggregate.InnerExceptions : (IReadOnlyCollection<Exception>)(value.InnerException is { } inner ? [inner] : []);
        if (inners.Count == 0 || !writer.Session.TryEnterInner())
        {
            writer.WriteByte(0);
            return;
        }

        var left = Math.Min(inners.Count, MaxItems);
        writer.WriteVarUInt32((uint)left);
        foreach (var each in inners)
        {
            if (--left >= 0)
                Codec<Exception>.Default.Write(ref writer, each);
        }

        writer.Session.ExitInner();
    }

    private static Exception[] ReadInner(ref WireReader reader)
    {
        var count = reader.ReadCount();
        if (count > MaxItems)
            throw Parsing.Invalid("exception");
        reader.Session.CountDecoded(Bytes + Footprint.OfItems<Exception>(count));
        var inners = new Exception[count];
        for (var i = 0; i < inners.Length; i++)
            inners[i] = Codec<Exception>.Default.Read(ref reader) ?? throw Parsing.Invalid("exception");
        return inners;
    }

    /// <summary>Data are not part of what the text of an exception goes over.</summary>
    private static void ReadRest(ref WireReader reader, Exception value, Type? type, string? message, string? stored)
    {
        var session = reader.Session;
        var outer = session.Begin(reader.Position);
        ReadNotes(ref reader, value);
        session.EndIdentity(outer, reader.Position);
        var start = reader.Position;
        var references = session.References;
        ReadMembers(ref reader, value, type);
        var isSmall = reader.Position - start <= MaxMembersOfMessage && session.References == references;
        if (stored != message && !(isSmall && MessageOf(value) == message))
            Fields.Message(value) = message;
    }

    /// <summary>
    /// A class may make its message of the stored text and its own members. What it makes of the stored text is right when those members
    /// came too; otherwise the whole message is stored. The getter is the application's, and members that were not sent may be null. It
    /// goes over members in a way that nobody knows, so it is asked only if they are a small tree.
    /// </summary>
    private static string? MessageOf(Exception value)
    {
        try
        {
            return value.Message;
        }
        catch (Exception exception) when (exception is not OutOfMemoryException)
        {
            return null;
        }
    }

    private static void WriteNotes(ref WireWriter writer, IDictionary notes)
    {
        var at = writer.BeginLength();
        if (notes.Count > 0)
        {
            var left = Math.Min(notes.Count, MaxItems);
            writer.WriteVarUInt32((uint)left);
            foreach (DictionaryEntry note in notes)
            {
                if (--left < 0)
                    break;
                writer.WriteString(note.Key.ToString() ?? "");
                Codec<object?>.Default.Write(ref writer, IsWritten(note.Value) ? note.Value : Short(note.Value!.ToString()));
            }
        }

        writer.EndLength(at);
    }

    /// <summary>Others become texts. An exception of any class does not: its text repeats what it has in common with others.</summary>
    private static bool IsWritten(object? note) => note is null or Exception
        || (TypeManifest.TryNameOf(note.GetType(), out _) && CodecTable.CanResolve(note.GetType()));

    private static string? Short(string? text) => text is { Length: > MaxText } ? text[..MaxText] : text;

    private static void ReadNotes(ref WireReader reader, Exception value)
    {
        var start = reader.Position;
        var end = reader.ReadLengthEnd();
        if (reader.Position < end)
        {
            var count = reader.ReadCount(2);
            if (count > MaxItems)
                throw Parsing.Invalid("exception"); // Each is compared with all before.
            reader.Session.CountDecoded(Footprint.OfNodes<DictionaryEntry>(count));
            for (; count > 0; count--)
                value.Data[reader.ReadString()] = Codec<object?>.Default.Read(ref reader);
        }

        End(ref reader, start, end);
    }

    private static void ReadMembers(ref WireReader reader, Exception value, Type? type)
    {
        var start = reader.Position;
        var end = reader.ReadLengthEnd();
        if (reader.Position < end && type is not null && CodecTable.TryGenerated(type) is IExceptionMembers generated)
            generated.Fill(ref reader, value);
        else if (reader.Position < end && type is not null && SerializableEntries.AreOf(type))
            SerializableEntries.FillAdded(ref reader, value, Fields.Message(value), Fields.Inner(value));
        End(ref reader, start, end);
    }

    private static void End(ref WireReader reader, int start, int end)
    {
        if (reader.Position > end)
            throw Parsing.Invalid("exception");
        if (reader.Position < end)
            reader.Session.AddSkipped(start, end);
        reader.Position = end;
    }

    private static class Fields
    {
        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_message")]
        internal static extern ref string? Message(Exception value);

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_innerException")]
        internal static extern ref Exception? Inner(Exception value);
    }
}

/// <summary>
/// The exception types that a peer may name: those of generated manifests, of the base libraries, of ActOp, and of the assemblies that this
/// process has loaded. A name never loads an assembly, and no constructor runs.
/// </summary>
/// <remarks>
/// Any thread. Owns the types that were found by name, as many as the loaded assemblies have, and some names that were not found, until
/// an assembly is loaded. A search visits each assembly, which takes some 50 us: a peer may cause as many as <see cref="TypeShare"/> says,
/// then exceptions that are new to the process are read as the fallback.
/// </remarks>
internal static class ExceptionTypes
{
    private static readonly Lazy<FrozenDictionary<string, Type>> Known = new(static () =>
    {
        Type[] members =
        [
            typeof(Exception), typeof(KeyNotFoundException), typeof(System.Net.Sockets.SocketException),
            typeof(System.Net.Http.HttpRequestException), typeof(System.Text.Json.JsonException),
            typeof(System.ComponentModel.Win32Exception), typeof(System.Data.DataException), typeof(System.Xml.XmlException),
            typeof(System.Threading.Channels.ChannelClosedException), typeof(System.ComponentModel.DataAnnotations.ValidationException),
            typeof(System.Security.Cryptography.CryptographicException), typeof(Orleans.Runtime.OrleansException),
        ];
        return members.Select(static t => t.Assembly).Distinct().SelectMany(static a => a.GetExportedTypes())
            .Where(IsCreatable).DistinctBy(static t => t.FullName)
            .ToFrozenDictionary(static t => t.FullName!, static t => t, StringComparer.Ordinal);
    });

    private static readonly ConcurrentDictionary<string, Type> OfLibraries = new(StringComparer.Ordinal);

    private const int MaxName = 512;

    private static long s_searches;

    /// <summary>How often the loaded assemblies were searched; for tests.</summary>
    internal static long Searches => Volatile.Read(ref s_searches);

    /// <summary>The characters of a full name that names no other type: no type arguments, no arrays, no assembly.</summary>
    private static readonly SearchValues<char> PlainName =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+");

    /// <summary>The exception of that name, or null.</summary>
    internal static Type? FindType(string name)
    {
        if (Known.Value.TryGetValue(name, out var type) || OfLibraries.TryGetValue(name, out type))
            return type;
        // The full name of a generic type that the writer had no name for.
        if (name.Contains("[[", StringComparison.Ordinal))
            return null;
        if (TypeManifest.TryGetType(name, out type))
            return IsCreatable(type) ? type : null;
        return FindLoaded(name);
    }

    /// <summary>
    /// False for a type without generated code that the application's <see cref="ExceptionSerializationOptions"/> leave out. Options that
    /// nobody has changed permit all.
    /// </summary>
    internal static bool IsPermitted(Type type, WireSession session)
    {
        var services = (session.CodecProvider as ICodecScope)?.Services ?? session.Runtime?.Services;
        return services?.GetService(typeof(Microsoft.Extensions.Options.IOptions<ExceptionSerializationOptions>))
                is not Microsoft.Extensions.Options.IOptions<ExceptionSerializationOptions> { Value: { IsUnchanged: false } options }
            || options.Supports(type) || CodecTable.TryGenerated(type) is not null || type.Assembly == typeof(Orleans.IGrain).Assembly
            || type.Assembly == typeof(ExceptionTypes).Assembly || type.Assembly == FieldCodecSource.Installed?.GetType().Assembly;
    }

    private static Type? FindLoaded(string name)
    {
        if (name.Length is 0 or > MaxName || name.AsSpan().ContainsAnyExcept(PlainName))
            return null;
        var unknown = UnknownNames.Current;
        if (unknown.Contains(name) || !TypeShare.TryTakeSearch())
            return null;
        Interlocked.Increment(ref s_searches);
        foreach (var assembly in AppDomain.CurrentDomain.GetAssemblies())
        {
            if (!assembly.IsDynamic && assembly.GetType(name, throwOnError: false) is { } type && IsCreatable(type))
                return OfLibraries.GetOrAdd(name, type);
        }

        unknown.Add(name);
        return null;
    }

    private static bool IsCreatable(Type type) =>
        typeof(Exception).IsAssignableFrom(type) && !type.IsAbstract && !type.ContainsGenericParameters;
}

/// <summary>
/// Names of exceptions that no loaded assembly has. A full set, and the set from before an assembly was loaded, are replaced by an empty
/// one. Any thread.
/// </summary>
internal sealed class UnknownNames
{
    /// <summary>At most 1 MB, as names have at most 512 characters.</summary>
    internal const int MaxNames = 1024;

    private static UnknownNames s_current = Create();

    private readonly ConcurrentDictionary<string, byte> _names = new(StringComparer.Ordinal);
    private int _count;

    internal static UnknownNames Current
    {
        get
        {
            var current = Volatile.Read(ref s_current);
            if (Volatile.Read(ref current._count) < MaxNames)
                return current;
            var next = new UnknownNames();
            var before = Interlocked.CompareExchange(ref s_current, next, current);
            return before == current ? next : before;
        }
    }

    internal bool Contains(string name) => _names.ContainsKey(name);

    /// <summary>A search that began before an assembly was loaded adds to the set of that time, which nobody asks any more.</summary>
    internal void Add(string name)
    {
        if (_names.TryAdd(name, 0))
            Interlocked.Increment(ref _count);
    }

    private static UnknownNames Create()
    {
        AppDomain.CurrentDomain.AssemblyLoad += static (_, _) => Volatile.Write(ref s_current, new UnknownNames());
        return new UnknownNames();
    }
}
