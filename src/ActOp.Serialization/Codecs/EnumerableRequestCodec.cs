using ActOp.Calls;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// A request for an enumeration, as an argument: the size of batches, the id of the method, its type arguments, its arguments.
/// </summary>
/// <typeparam name="T">The items.</typeparam>
internal sealed class EnumerableRequestCodec<T> : Codec<IAsyncEnumerableRequest<T>>
{
    public override bool IsImmutable => false;

    public override IAsyncEnumerableRequest<T> Copy(IAsyncEnumerableRequest<T> value, CopyContext context)
    {
        if (value is null)
            return null!;
        var original = (Call)value;
        var copy = Make(original.Method.Id, original.Method.TypeArguments);
        for (var index = 0; index < value.GetArgumentCount(); index++)
            copy.SetArgument(index, value.GetArgument(index)!);
        ((Call)copy).CopyArguments(context);
        copy.MaxBatchSize = value.MaxBatchSize;
        return copy;
    }

    public override void Write(ref WireWriter writer, IAsyncEnumerableRequest<T> value)
    {
        if (value is null)
        {
            writer.WriteVarUInt32(0);
            return;
        }

        var call = (Call)value;
        writer.WriteVarUInt32((uint)Math.Max(value.MaxBatchSize, 1));
        writer.WriteFixed64(call.Method.Id);
        writer.WriteNullableString(call.Method.TypeArguments);
        call.WriteArguments(ref writer);
    }

    public override IAsyncEnumerableRequest<T> Read(ref WireReader reader)
    {
        var batch = reader.ReadVarUInt32();
        if (batch == 0)
            return null!;
        var id = reader.ReadFixed64();
        var request = Make(id, reader.ReadNullableString());
        request.MaxBatchSize = (int)Math.Min(batch, int.MaxValue);
        ((Call)request).ReadArguments(ref reader);
        return request;
    }

    private static IAsyncEnumerableRequest<T> Make(ulong id, string? typeArguments) =>
        TypeManifest.FindMethod(id)?.Rent(typeArguments) as IAsyncEnumerableRequest<T>
        ?? throw new SerializerException(
            "This process has no grain method with the id " + id.ToString("x16") + " that returns IAsyncEnumerable of " + typeof(T) + ".");
}
