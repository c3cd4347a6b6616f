using System.ComponentModel;
using System.Reflection;

namespace ActOp.Serialization;

/// <summary>Finds the reflection object of an interface method; called by generated code, once per method.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class MethodLookup
{
    /// <summary>The method of that name with those parameter types, constructed with the type arguments if it is generic.</summary>
    public static MethodInfo Find(Type interfaceType, string name, Type[] typeArguments, Type[] parameterTypes)
    {
        foreach (var candidate in interfaceType.GetMethods())
        {
            if (candidate.Name != name || candidate.GetGenericArguments().Length != typeArguments.Length)
                continue;
            var method = typeArguments.Length == 0 ? candidate : candidate.MakeGenericMethod(typeArguments);
            if (method.GetParameters().Select(static p => p.ParameterType).SequenceEqual(parameterTypes))
                return method;
        }

        throw new MissingMethodException(interfaceType.FullName, name);
    }
}
