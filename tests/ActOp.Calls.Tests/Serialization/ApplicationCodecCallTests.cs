using System.Buffers;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Calls.Tests.Serialization;

/// <summary>Arguments and results whose types have codecs of the application, in calls through the wire and within a silo.</summary>
public class ApplicationCodecCallTests
{
    [Fact]
    public async Task Values_with_codecs_of_the_application_travel_with_calls()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.Services.AddSerializer(Json));
        builder.ConfigureClient(client => client.Services.AddSerializer(Json));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        for (var key = 0; key < 8; key++)
        {
            var grain = cluster.Client.GetGrain<ICodedGrain>(key);
            Assert.Equal(42.5, (await grain.Warm(new CodedTemperature(41.5))).Degrees);
            var order = await grain.Add(new PlainOrder { Lines = { "a" } });
            Assert.Equal(["a", "b"], order.Lines);
            Assert.Equal(["x", "b"], Assert.IsType<PlainOrder>(await grain.Any(new PlainOrder { Lines = { "x" } })).Lines);
        }

        var serializer = cluster.Client.ServiceProvider.GetRequiredService<Serializer>();
        var reference = cluster.Client.GetGrain<ICodedGrain>(1);
        var read = serializer.Deserialize<ICodedGrain>(serializer.SerializeToArray(reference));
        Assert.Equal(1, (await read.Warm(new CodedTemperature(0))).Degrees);
    }

    [Fact]
    public async Task Arguments_and_results_within_a_silo_are_copied_by_the_copiers_of_that_silo()
    {
        await using var older = await DeployWith<StampCopier>();
        await using var newer = await DeployWith<OtherStampCopier>();
        Assert.Equal("text, copied, copied", await Pass(older));
        Assert.Equal("text, other, other", await Pass(newer));

        static async Task<string> Pass(InProcessTestCluster cluster)
        {
            var grains = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
            return (await grains.GetGrain<IStampGrain>(1).Pass(new Stamp { Text = "text" })).Text;
        }

        static async Task<InProcessTestCluster> DeployWith<TCopier>()
        {
            var builder = new InProcessTestClusterBuilder(1);
            builder.Options.InitializeClientOnDeploy = false;
            builder.ConfigureSilo(static (_, silo) => silo.Services.AddSerializer(
                static codecs => codecs.Configure(static options => options.Copiers.Add(typeof(TCopier)))));
            var cluster = builder.Build();
            await cluster.DeployAsync();
            return cluster;
        }
    }

    private static void Json(ISerializerBuilder builder) => builder.AddJsonSerializer(static type => type == typeof(PlainOrder));

    public interface IStampGrain : IGrainWithIntegerKey
    {
        Task<Stamp> Pass(Stamp stamp);
    }

    public sealed class StampGrain : Grain, IStampGrain
    {
        public Task<Stamp> Pass(Stamp stamp) => Task.FromResult(stamp);
    }

    public sealed class Stamp
    {
        public string Text { get; set; } = "";
    }

    public sealed class StampCopier : IDeepCopier<Stamp>
    {
        public Stamp DeepCopy(Stamp input, CopyContext context) => new() { Text = input.Text + ", copied" };
    }

    public sealed class OtherStampCopier : IDeepCopier<Stamp>
    {
        public Stamp DeepCopy(Stamp input, CopyContext context) => new() { Text = input.Text + ", other" };
    }

    public interface ICodedGrain : IGrainWithIntegerKey
    {
        Task<CodedTemperature> Warm(CodedTemperature temperature);

        Task<PlainOrder> Add(PlainOrder order);

        Task<object> Any(object order);
    }

    public sealed class CodedGrain : Grain, ICodedGrain
    {
        public async Task<CodedTemperature> Warm(CodedTemperature temperature)
        {
            var next = this.GetPrimaryKeyLong() < 100 ? GrainFactory.GetGrain<ICodedGrain>(this.GetPrimaryKeyLong() + 100) : null;
            return next is null ? new CodedTemperature(temperature.Degrees + 1) : await next.Warm(temperature);
        }

        public Task<PlainOrder> Add(PlainOrder order)
        {
            order.Lines.Add("b");
            return Task.FromResult(order);
        }

        public async Task<object> Any(object order) => await Add((PlainOrder)order);
    }

    public sealed class PlainOrder
    {
        public List<string> Lines { get; set; } = [];
    }

    public sealed class CodedTemperature(double degrees)
    {
        public double Degrees { get; } = degrees;
    }

    [RegisterSerializer]
    public sealed class CodedTemperatureCodec : IFieldCodec<CodedTemperature>
    {
        public void WriteField<TBufferWriter>(
            ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, CodedTemperature value)
            where TBufferWriter : IBufferWriter<byte>
        {
            if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
                return;
            writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(CodedTemperature), WireType.Fixed64);
            writer.WriteInt64(BitConverter.DoubleToInt64Bits(value.Degrees));
        }

        public CodedTemperature ReadValue<TInput>(ref Reader<TInput> reader, Field field)
        {
            if (field.IsReference)
                return ReferenceCodec.ReadReference<CodedTemperature, TInput>(ref reader, field);
            var value = new CodedTemperature(BitConverter.Int64BitsToDouble(reader.ReadInt64()));
            ReferenceCodec.RecordObject(reader.Session, value);
            return value;
        }
    }
}
