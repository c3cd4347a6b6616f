using System.Reflection;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;

namespace Orleans.Serialization;

/// <summary>Finds arguments and results of interfaces that have no codec or no copier.</summary>
public static class SerializerConfigurationAnalyzer
{
    /// <summary>The types of the methods of <see cref="TypeManifestOptions.Interfaces"/> that lack one of them.</summary>
    public static Dictionary<Type, SerializerConfigurationComplaint> AnalyzeSerializerAvailability(
        ICodecProvider codecProvider, TypeManifestOptions options)
    {
        var complaints = new Dictionary<Type, SerializerConfigurationComplaint>();
        foreach (var type in options.Interfaces)
        {
            foreach (var method in type.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
            {
                foreach (var used in TypesOf(method).Where(static t => !t.ContainsGenericParameters && !t.IsByRef))
                    Check(codecProvider, complaints, type, method, used);
            }
        }

        return complaints;
    }

    private static IEnumerable<Type> TypesOf(MethodInfo method)
    {
        foreach (var parameter in method.GetParameters().Where(static p => p.ParameterType != typeof(CancellationToken)))
            yield return parameter.ParameterType;
        if (method.ReturnType.IsConstructedGenericType)
        {
            foreach (var argument in method.ReturnType.GetGenericArguments())
                yield return argument;
        }
    }

    private static void Check(
        ICodecProvider provider, Dictionary<Type, SerializerConfigurationComplaint> complaints, Type type, MethodInfo method, Type used)
    {
        var (codec, copier) = (provider.TryGetCodec(used) is not null, provider.TryGetDeepCopier(used) is not null);
        if (codec && copier)
            return;
        if (!complaints.TryGetValue(used, out var complaint))
            complaints[used] = complaint = new SerializerConfigurationComplaint { HasSerializer = codec, HasCopier = copier };
        if (!complaint.Methods.TryGetValue(type, out var methods))
            complaint.Methods[type] = methods = [];
        methods.Add(method);
    }

    /// <summary>A type that lacks a codec or a copier, and where it is used.</summary>
    public class SerializerConfigurationComplaint
    {
        public Dictionary<Type, HashSet<MethodInfo>> Methods { get; } = [];

        public bool HasSerializer { get; set; }

        public bool HasCopier { get; set; }
    }
}
